"""`client.runs`."""

from collections.abc import AsyncIterator, Sequence

from tandem.asynchronous.project_names import project_id
from tandem.asynchronous.run_handle import ListedRun, Run, attached, read_run
from tandem.asynchronous.session import Session
from tandem.errors import NotFound
from tandem.protocol import API, Spec, is_id, spec_document


class Runs:
    """The runs that the token may see."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(
        self,
        *,
        project: str = "",
        state: str = "",
        search: str = "",
        tag: str = "",
        mine: bool = False,
        archived: bool = False,
    ) -> AsyncIterator[ListedRun]:
        """Runs, newest first; pages are read as they are needed.

        Args:
            project: its id, name or slug.
            state: one or several, separated by commas.
            search: words of the name, the notes or a tag.
        """
        items = self._session.items(
            f"{API}/runs",
            project=await project_id(self._session, project) if project else None,
            state=state,
            search=search,
            tag=tag,
            mine=mine,
            archived=archived,
        )
        async for item in items:
            yield attached(ListedRun.model_validate(item), self._session)

    async def get(self, run: str) -> Run:
        """A run by its id, or the newest one of that name.

        Raises:
            NotFound: there is none that the token may see.
        """
        return await read_run(self._session, run if is_id(run) else await self._id_of_name(run))

    async def create(
        self, spec: Spec, *, name: str, project: str = "", notes: str = "", tags: Sequence[str] = ()
    ) -> Run:
        """Queue a run.

        Args:
            project: its id, name or slug; not needed where the token sees one project only.

        Raises:
            Invalid: the spec has errors; `errors` has them by field.
        """
        body = {
            "project": await project_id(self._session, project),
            "name": name,
            "spec": spec_document(spec),
            "notes": notes,
            "tags": [*tags],
        }
        return attached(Run.model_validate(await self._session.post(f"{API}/runs", body)), self._session)

    async def _id_of_name(self, name: str) -> str:
        async for item in self._session.items(f"{API}/runs", search=name):
            if item["name"] == name:
                return str(item["id"])
        raise NotFound(status=404, title="Not Found", detail=f"there is no run named {name!r} that you may see")
