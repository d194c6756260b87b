"""A message in the form that its receiver reads: signed JSON, Slack, Discord, or e-mail."""

import json
from typing import Any

from hooks.models import MessageForm

MAX_DISCORD_CHARS = 2000
"""Of a message's content, by Discord's documentation; longer ones are refused."""
MAX_SLACK_CHARS = 3000
"""Of a section's text, by Slack's documentation."""
MAX_SUBJECT_CHARS = 150


def body_of(form: MessageForm, payload: dict[str, Any]) -> bytes:
    """The JSON that is posted."""
    match form:
        case MessageForm.SLACK:
            content = slack(payload["data"])
        case MessageForm.DISCORD:
            content = discord(payload["data"])
        case _:
            content = payload
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def slack(data: dict[str, Any]) -> dict[str, Any]:
    """For an incoming webhook of Slack. Its three control characters are escaped, so that a run's name mentions
    nobody."""
    text = data["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = shortened(text, MAX_SLACK_CHARS)
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    link = {"type": "context", "elements": [{"type": "mrkdwn", "text": f"<{data['url']}|Open in Tandem>"}]}
    return {"text": text, "blocks": [section, link]}


def discord(data: dict[str, Any]) -> dict[str, Any]:
    """For a webhook of Discord. Nobody is mentioned, whatever a run's name holds."""
    room = MAX_DISCORD_CHARS - len(data["url"]) - len("\n<>")
    return {"content": f"{shortened(data['text'], room)}\n<{data['url']}>", "allowed_mentions": {"parse": []}}


def mail_of(payload: dict[str, Any]) -> tuple[str, str]:
    """Subject and text of an e-mail."""
    data = payload["data"]
    # A header holds no line break.
    subject = shortened(" ".join(data["text"].split()), MAX_SUBJECT_CHARS)
    return f"[Tandem] {subject}", f"{data['text']}\n\n{data['url']}\n\n{payload['type']} at {payload['timestamp']}\n"


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
