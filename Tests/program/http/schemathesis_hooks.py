"""What schemathesis is to know beside the description: how bytes of an upload are sent."""

import schemathesis


@schemathesis.serializer("application/offset+octet-stream")
def offset_octet_stream(_, value):
    return {"data": value if isinstance(value, bytes) else str(value).encode()}
