"""The one error that malformed bytes, or values that no bytes can carry, lead to."""


class WireError(ValueError):
    """Bytes that are not the message they claim to be, or a message that cannot be written in the wanted version."""
