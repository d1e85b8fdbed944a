"""``gtp-harness admin``: people of a service, their links, teachers of courses, the audit log."""

import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from contextlib import closing

from harness.cli import service
from harness.cli.commandline import Command, add_shared
from harness.core.errors import ExitCode
from harness.core.text import escape_controls
from harness.service.records import Platform
from harness.service.settings import Settings, read_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.service.storage.audit import AuditedTransaction

_PAGE = """\
usage: gtp-harness admin people [OPTION…]
       gtp-harness admin add NAME [--email ADDRESS] [--admin]
       gtp-harness admin change PERSON [--name NAME] [--email ADDRESS]
       gtp-harness admin link|token|tokens|shut-out|let-in PERSON [OPTION…]
       gtp-harness admin revoke ID
       gtp-harness admin courses [OPTION…]
       gtp-harness admin add-teacher|remove-teacher PERSON --course COURSE
       gtp-harness admin platforms|platform-link|rotate-key [OPTION…]
       gtp-harness admin add-platform NAME --issuer URL --client-id ID OPTION…
       gtp-harness admin remove-platform ID
       gtp-harness admin log [--about ID] [--check] [OPTION…]

Add people to a service, let them in, or lock them out. PERSON is an ID, a mail
address or a name, COURSE an ID or a title. The service may be running.

people lists everybody. add adds a person; with --admin, the person may make
courses. link prints a link that works once, within a day. token prints an API
token. Both are printed once and not stored. tokens lists the tokens of PERSON, or
all of them. revoke ends the token ID. shut-out ends all sessions, links and tokens
of PERSON, whose submissions stay. No new link, mail or OpenID provider lets PERSON in
again before let-in. change gives PERSON another --name or --email; another address
ends sessions, links and tokens. Each change is in the audit log.

courses lists all courses with their teachers. add-teacher makes PERSON a teacher
of a course, remove-teacher ends that. The last teacher of a course stays.

platforms lists the platforms, such as Moodle, whose courses open this service.
add-platform registers the platform NAME by the options below; platform-link prints a
link by which one registers itself, once within a day. remove-platform removes the
platform ID. rotate-key makes a new key to sign messages to platforms with.

log prints the audit log: who did what to what. With --about, it prints only the
lines about one ID, such as that of a person, an assignment or a submission, or
about the key of a student. With --check, it checks the whole log against its key
instead, and names each line that was changed, added or removed.

[options]

Exit status:
    1  the audit log does not hold (log --check)
    2  the input was bad, such as an unknown PERSON
    3  the database's server cannot be used now

Examples:
  gtp-harness admin add "Tess Teacher" --email tess@example.org --admin
  gtp-harness admin link tess@example.org --address https://tests.example.org
  gtp-harness admin token tess@example.org --name ci --scope submit
  gtp-harness admin change Teacher --name "Tess Teacher"
  gtp-harness admin shut-out tess@example.org
  gtp-harness admin add-teacher tess@example.org --course "Games 2026"
  gtp-harness admin platform-link --address https://tests.example.org
  gtp-harness admin log --about ada
  gtp-harness admin log --check"""

_ALONE = ("people", "courses", "log", "platforms", "platform-link", "rotate-key")  # about nobody
_OF_COURSE = ("add-teacher", "remove-teacher")
_NEEDED = {
    "add": "a NAME",
    "revoke": "the ID of a token",
    "add-platform": "a NAME",
    "remove-platform": "the ID of a platform",
}
_TOKEN = "token"  # what a token is called that was given no name


def _run(arguments: Namespace) -> int:
    action = arguments.action
    if action not in _ACTIONS:
        ADMIN.refuse(f"expected one of {', '.join(_ACTIONS)}")
    if action != "tokens" and bool(arguments.who) is (action in _ALONE):
        named = "no name" if action in _ALONE else _NEEDED.get(action, "a PERSON")
        ADMIN.refuse(f"{action} needs {named}")
    if action != "log" and (arguments.about or arguments.check):
        ADMIN.refuse("--about and --check are for log")
    if action == "change" and not (arguments.name or arguments.email):
        ADMIN.refuse("change needs --name NAME or --email ADDRESS")
    if arguments.course and action not in _OF_COURSE:
        ADMIN.refuse(f"--course is for {' and '.join(_OF_COURSE)}")
    if action in _OF_COURSE and not arguments.course:
        ADMIN.refuse(f"{action} needs --course COURSE")
    settings = service.place(arguments)
    if arguments.address:
        settings = settings._replace(address=arguments.address)
        read_address(settings)
    service.require(settings)
    from harness.service.storage.database import Database

    with closing(Database(settings)) as database, database.acting() as act:
        lines = _ACTIONS[action](act, arguments, settings)
    for line in lines:
        print(line)
    return ExitCode.FAILED if lines and arguments.check else ExitCode.OK


def _people(act: "AuditedTransaction", arguments: Namespace, settings: Settings) -> list[str]:
    from harness.service.operations import administration
    from harness.service.people import accounts

    match arguments.action:
        case "people":
            lines = []
            for one in administration.everybody(act.db):
                states = "admin" * one.is_admin, "shut out" * one.is_shut_out
                lines.append(_line(one.id, one.name, one.email, *states))
            return lines
        case "add":
            name = accounts.check_name(arguments.who)
            email = accounts.check_address(arguments.email) if arguments.email else ""
            person = accounts.add_person(act, name, email, is_admin=arguments.admin)
            return [_line(person.id, person.name, person.email)]
        case "revoke":
            administration.revoke_token(act, arguments.who)
            return [f"the token {arguments.who} is no longer valid"]
    owner = administration.find(act.db, arguments.who) if arguments.who else None
    lines = []
    for token, person in administration.tokens(act.db, owner):
        end = time.strftime("%Y-%m-%d", time.localtime(token.until))
        lines.append(_line(token.id, person.name, token.name, token.scope, f"until {end}"))
    return lines


def _person(act: "AuditedTransaction", arguments: Namespace, settings: Settings) -> list[str]:
    from harness.service.operations import administration
    from harness.service.people import accounts

    person = administration.find(act.db, arguments.who)
    match arguments.action:
        case "link":
            return [f"{settings.base}/enter/{administration.link(act, person).text}"]
        case "token":
            accounts.require_enabled(person)
            name = arguments.name or _TOKEN
            _, secret = accounts.make_token(act, name, arguments.scope, owner=person.id)
            return [secret.text]
        case "shut-out":
            administration.shut_out(act, person)
            return [_line(f"{person.name} is shut out, and has no link and no token")]
        case "let-in":
            administration.let_in(act, person)
            return [_line(f"{person.name} may sign in again: gtp-harness admin link makes a link")]
    if arguments.name:
        person = accounts.rename(act, person, arguments.name)
    if arguments.email:
        person = accounts.change_email(act, person, accounts.check_address(arguments.email))
    return [_line(person.id, person.name, person.email)]


def _courses(act: "AuditedTransaction", arguments: Namespace, settings: Settings) -> list[str]:
    from harness.service.courses import staff
    from harness.service.operations import administration

    if arguments.action == "courses":
        return [
            _line(course.id, course.title, ", ".join(one.name for one in teachers))
            for course, teachers in administration.list_courses(act.db)
        ]
    course = administration.find_course(act.db, arguments.course)
    person = administration.find(act.db, arguments.who)
    if arguments.action == "add-teacher":
        staff.make_teacher(act, course.id, person)
        return [_line(f"{person.name} is a teacher of {course.title}")]
    administration.remove_teacher(act, course, person)
    return [_line(f"{person.name} is not a teacher of {course.title} any more")]


def _platforms(act: "AuditedTransaction", arguments: Namespace, settings: Settings) -> list[str]:
    from harness.service.lti import platforms
    from harness.service.storage import lti

    match arguments.action:
        case "platforms":
            return [
                _line(one.id, one.title, one.issuer, one.client_id, one.deployments)
                for one in lti.PLATFORMS.all(act.db, "title", "id")
            ]
        case "add-platform":
            addresses = (arguments.login_url, arguments.token_url, arguments.keyset_url)
            own = (arguments.who, arguments.issuer, arguments.client_id, *addresses)
            deployments, hosts = " ".join(arguments.deployment), " ".join(arguments.origin)
            platform = Platform("", *own, deployments=deployments, hosts=hosts)
            made = platforms.register(act, settings, platform)
            return [_line(made.id, made.title)]
        case "platform-link":
            return [platforms.make_link(act, settings.base)]
        case "remove-platform":
            found = platforms.find(act.db, arguments.who)
            platforms.remove(act, found.id)
            return [_line(f"{found.title} opens nothing here any more")]
    platforms.rotate_keys(act, settings, time.time())
    return ["there is a new key: it signs in an hour"]


def _log(act: "AuditedTransaction", arguments: Namespace, settings: Settings) -> list[str]:
    """Return the lines of the audit log; with ``--check``, what is wrong with it."""
    from harness.service.storage import audit

    if arguments.check:
        return [f"NOT GOOD: {one}" for one in audit.check(act.db, act.log)]
    found = audit.read_history(act.db, act.log, arguments.about)
    return [_line(str(one.number), *one[1:]) for one in found]


def _line(*fields: str) -> str:
    return escape_controls("  ".join(one for one in fields if one))


_ACTIONS = {
    **dict.fromkeys(("people", "add", "tokens", "revoke"), _people),
    **dict.fromkeys(("link", "token", "shut-out", "let-in", "change"), _person),
    **dict.fromkeys(("courses", *_OF_COURSE), _courses),
    **dict.fromkeys(("platforms", "add-platform", "platform-link"), _platforms),
    **dict.fromkeys(("remove-platform", "rotate-key"), _platforms),
    "log": _log,
}


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=tuple(_ACTIONS), help=SUPPRESS)
    parser.add_argument("who", nargs="?", default="", metavar="PERSON", help=SUPPRESS)
    add = parser.add_argument
    add_shared(add, "--data", "--database")
    add("--email", default="", metavar="ADDRESS", help="mail address of the person")
    add("--admin", action="store_true", help="let the added person make courses")
    add("--name", default="", metavar="NAME",
        help=f"new name of PERSON, or name of the token (default: {_TOKEN})")  # fmt: skip
    add("--scope", choices=("read", "submit", "all"), default="read",
        help="what the token allows (default: read)")  # fmt: skip
    add("--address", default="", metavar="URL",
        help="the service's address, as given to serve (default:"
        " http://127.0.0.1:8017)")  # fmt: skip
    add("--course", default="", metavar="COURSE", help="course of the teacher to add or remove")
    add("--issuer", default="", metavar="URL", help="of add-platform: what it calls itself")
    add("--client-id", default="", metavar="ID",
        help="of add-platform: what it calls this service")  # fmt: skip
    add("--login-url", default="", metavar="URL", help="of add-platform: where a login begins")
    add("--token-url", default="", metavar="URL", help="of add-platform: where it gives tokens")
    add("--keyset-url", default="", metavar="URL", help="of add-platform: its public keys")
    add("--deployment", action="append", default=[], metavar="ID",
        help="of add-platform: a deployment of it (may be repeated)")  # fmt: skip
    add("--origin", action="append", default=[], metavar="URL",
        help="of add-platform: one more address of it (may be repeated)")  # fmt: skip
    add("--about", default="", metavar="ID", help="of log: print only the lines about this ID")
    add("--check", action="store_true", help="of log: check it against its key")


ADMIN = Command("admin", _PAGE, _add_options, _run)
