from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied, ValidationError

from accounts import services
from accounts.access import NotVisible, get_project, has_role, require_role, role_in, visible_projects
from accounts.models import Membership, Project, ProjectRole, User
from accounts.selectors import members


def test_outsiders_see_no_project_at_all(project: Project, charlie: User) -> None:
    assert list(visible_projects(charlie)) == []
    assert role_in(charlie, project) is None
    for ask in (
        lambda: get_project(charlie, project.pk),
        lambda: require_role(charlie, project, "viewer"),
        lambda: members(charlie, project),
    ):
        with pytest.raises(NotVisible):
            ask()


def test_nobody_logged_in_sees_nothing(project: Project) -> None:
    assert list(visible_projects(AnonymousUser())) == []
    with pytest.raises(NotVisible):
        require_role(AnonymousUser(), project, ProjectRole.VIEWER)


def test_pool_admins_see_no_project_they_are_not_in(project: Project, make_user: Callable[..., User]) -> None:
    admin = make_user("root", is_staff=True, is_superuser=True)
    with pytest.raises(NotVisible):
        get_project(admin, project.pk)


@pytest.mark.parametrize("wrong", ["", "no-uuid", "00000000-0000-0000-0000-000000000000"])
def test_an_id_that_names_nothing_is_not_visible(alice: User, project: Project, wrong: str) -> None:
    with pytest.raises(NotVisible):
        get_project(alice, wrong)


def test_each_role_holds_the_rights_of_the_lower_ones(project: Project, alice: User, bob: User, viewer: User) -> None:
    ranks = {alice: 3, bob: 2, viewer: 1}
    for user, num_rights in ranks.items():
        assert [has_role(user, project, role) for role in ProjectRole] == [rank < num_rights for rank in range(3)]


def test_a_member_without_the_right_learns_which_role_is_needed(project: Project, viewer: User) -> None:
    with pytest.raises(PermissionDenied, match="needs the role editor in Shapes, yours is viewer"):
        require_role(viewer, project, ProjectRole.EDITOR)


def test_the_creator_of_a_project_owns_it(alice: User) -> None:
    created = services.create_project(user=alice, name="  Ωmega lab ")
    assert created.name == "Ωmega lab"
    assert created.slug
    assert role_in(alice, created) == ProjectRole.OWNER


def test_two_projects_of_one_name_have_two_slugs(alice: User) -> None:
    slugs = {services.create_project(user=alice, name="Lab").slug for _ in range(2)}
    assert len(slugs) == 2


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_project_needs_a_name_that_fits(alice: User, name: str) -> None:
    with pytest.raises(ValidationError):
        services.create_project(user=alice, name=name)


def test_an_owner_adds_changes_and_removes_members(project: Project, alice: User, charlie: User) -> None:
    services.add_member(user=alice, project=project, username="charlie", role="viewer")
    assert role_in(charlie, project) == ProjectRole.VIEWER
    services.change_role(user=alice, project=project, username="charlie", role="owner")
    assert role_in(charlie, project) == ProjectRole.OWNER
    services.remove_member(user=charlie, project=project, username="alice")
    assert role_in(alice, project) is None


def test_only_owners_manage_members(project: Project, bob: User, charlie: User) -> None:
    for act in (
        lambda: services.add_member(user=bob, project=project, username="charlie", role="viewer"),
        lambda: services.change_role(user=bob, project=project, username="bob", role="owner"),
        lambda: services.remove_member(user=bob, project=project, username="alice"),
        lambda: services.rename_project(user=bob, project=project, name="Mine"),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_everybody_may_leave_but_the_last_owner(project: Project, alice: User, bob: User) -> None:
    services.remove_member(user=bob, project=project, username="bob")
    assert role_in(bob, project) is None
    with pytest.raises(ValidationError, match="must keep an owner"):
        services.remove_member(user=alice, project=project, username="alice")
    with pytest.raises(ValidationError, match="must keep an owner"):
        services.change_role(user=alice, project=project, username="alice", role="viewer")
    assert Membership.objects.get(project=project).role == ProjectRole.OWNER


@pytest.mark.parametrize(("username", "role", "field"), [("nobody", "viewer", "username"), ("charlie", "boss", "role")])
def test_a_wrong_member_is_an_error_at_its_field(
    project: Project, alice: User, charlie: User, username: str, role: str, field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        services.add_member(user=alice, project=project, username=username, role=role)
    assert list(caught.value.message_dict) == [field]


def test_nobody_is_added_twice(project: Project, alice: User, bob: User) -> None:
    with pytest.raises(ValidationError, match="editor already"):
        services.add_member(user=alice, project=project, username="bob", role="viewer")
    assert role_in(bob, project) == ProjectRole.EDITOR
