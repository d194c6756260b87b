"""Which project a name means."""

from tandem.asynchronous.session import Session
from tandem.errors import NotFound, TandemError
from tandem.protocol import API


async def project_id(session: Session, wanted: str) -> str:
    """The id of the project with this id, slug or name; of the only one, where `wanted` is empty.

    Raises:
        NotFound: the token sees no such project.
        TandemError: it sees several.
    """
    projects = [item async for item in session.items(f"{API}/projects")]
    matching = [each for each in projects if not wanted or wanted in (each["id"], each["slug"], each["name"])]
    if len(matching) == 1:
        return str(matching[0]["id"])
    known = ", ".join(f"{each['name']} ({each['slug']})" for each in matching or projects) or "none"
    if matching:
        raise TandemError(f"several projects could be meant, name one by its slug: {known}")
    raise NotFound(
        status=404, title="Not Found", detail=f"there is no project {wanted!r} that you may see; you see: {known}"
    )
