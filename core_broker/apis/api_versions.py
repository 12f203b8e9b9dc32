"""ApiVersions (key 18), versions 0 to 4: what this broker serves.

v3 flexible, with the client's software name and the features; v4 may report a feature whose lowest level is 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from core_broker.apis.table import SERVED
from core_broker.context import RequestContext

if TYPE_CHECKING:
    from core_broker.broker import Broker

API_VERSIONS_KEY = 18
SOFTWARE_NAME_VERSION = 3
ZERO_MINIMUM_VERSION = 4
_software = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(broker: Broker, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    own = SERVED[API_VERSIONS_KEY]
    if not own.covers(context.version):
        # In the form of v0, which every client can read: it learns the newest version that both know.
        return ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION,
            api_keys=[ApiVersion(api_key=API_VERSIONS_KEY, min_version=own.min_version, max_version=own.max_version)],
        )
    if context.version >= SOFTWARE_NAME_VERSION and not (
        _software.fullmatch(request.client_software_name) and _software.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    image = broker.metadata.image
    supported = broker.metadata.supported_features
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=served.min_version, max_version=served.max_version)
            for key, served in sorted(SERVED.items())
        ],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=levels.low, max_version=levels.high)
            for name, levels in supported.items()
            if levels.low > 0 or context.version >= ZERO_MINIMUM_VERSION
        ],
        finalized_features_epoch=image.offset,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in image.features.items()
            if level > 0
        ],
    )
