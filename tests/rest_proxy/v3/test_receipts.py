"""What receipts say of errors."""

from barnabas.kernel.http.errors import HttpError
from rest_proxy.v3.receipts import error_fields


def test_the_reason_stands_in_the_one_line_of_a_receipt() -> None:
    error = HttpError(422, "Error when fetching schema by id. schemaId = 99\nSchema 99 not found", code=42207)
    message = "Error: 42207 : Error when fetching schema by id. schemaId = 99: Schema 99 not found"
    assert error_fields(error) == {"error_code": 422, "message": message}
