"""A page's network that a test can cut without a word: its sockets stay open, but nothing comes through them."""

import re

from playwright.sync_api import Page, WebSocketRoute

LIVE_SOCKETS = re.compile(r"/ws/v1/")


class WeakNetwork:
    """Stands between a page and its server from the page's next socket on."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._is_cut = False
        page.route_web_socket(LIVE_SOCKETS, self._join)

    def cut(self) -> None:
        """Let open sockets go silent, refuse new ones, and fail every request."""
        self._is_cut = True
        self._page.context.set_offline(True)

    def mend(self) -> None:
        self._is_cut = False
        self._page.context.set_offline(False)

    def _join(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            socket.close()
            return
        server = socket.connect_to_server()
        server.on_message(lambda message: None if self._is_cut else socket.send(message))
