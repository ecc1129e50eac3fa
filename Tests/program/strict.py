"""A strict HTTP/1.1 client: h11 parses the answers, and what is not one complete answer a request is an error."""

import h11


class Parsed:
    def __init__(self, head: h11.Response):
        self.status = head.status_code
        self.fields = [(name.decode(), value.decode("latin-1")) for name, value in head.headers]
        self.body = b""

    def __getitem__(self, name: str) -> str:
        return ", ".join(value for field, value in self.fields if field == name)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:200]!r}>"


def answers(data: bytes, *methods: str) -> list[Parsed]:
    """The answers to requests of these methods, which came on one connection; fewer if the server ended it.

    Raises if one of them is malformed or cut short, or if anything follows the last one."""
    client = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    client.receive_data(data)
    client.receive_data(b"")
    parsed: list[Parsed] = []
    for method in methods:
        client.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
        client.send(h11.EndOfMessage())
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                parsed.append(Parsed(event))
            elif isinstance(event, h11.Data):
                parsed[-1].body += bytes(event.data)
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                raise AssertionError(f"{event!r} in place of an answer's end; {parsed}, {data[:600]!r}")
        if client.their_state is not h11.DONE:
            break
        client.start_next_cycle()
    rest = client.trailing_data[0]
    if rest:
        raise AssertionError(f"{rest[:600]!r} follows the last answer; {parsed}")
    return parsed
