"""Messages by e-mail, where an administrator gave a mail server (`EMAIL_URL`)."""

import smtplib
import time
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage

from hooks.http_posts import Outcome
from hooks.message_forms import mail_of
from hooks.models import MAX_ANSWER_CHARS

NO_SERVER = "this installation sends no e-mail: an administrator has to set `EMAIL_URL`"


def send_email(address: str, payload: dict[str, Any]) -> Outcome:
    """Hand the message to the mail server. What it refuses is in the outcome."""
    if not settings.TANDEM_SENDS_EMAIL:
        return Outcome(is_delivered=False, milliseconds=0, answer=NO_SERVER)
    begun = time.monotonic()
    subject, text = mail_of(payload)
    answer, is_delivered = "taken by the mail server", True
    try:
        EmailMessage(subject, text, to=[address]).send()
    except (OSError, smtplib.SMTPException) as error:
        answer, is_delivered = str(error) or type(error).__name__, False
    milliseconds = round((time.monotonic() - begun) * 1000)
    return Outcome(is_delivered=is_delivered, milliseconds=milliseconds, answer=answer[:MAX_ANSWER_CHARS])
