"""SaslHandshake, api key 17."""

from barnabas.wire.fields import array, int16, string
from barnabas.wire.struct import Message


class SaslHandshakeRequest(Message, api_key=17, versions="0-1", flexible="none"):
    mechanism: str = string()


class SaslHandshakeResponse(Message, api_key=17, versions="0-1", flexible="none"):
    error_code: int = int16()
    mechanisms: list[str] = array(string)
