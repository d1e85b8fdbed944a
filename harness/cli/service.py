"""``gtp-harness serve``, ``backup``, ``restore`` and ``prune``: a service and its data."""

import argparse
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from harness.cli.commandline import Command, add_shared, port, whole
from harness.core import requirements
from harness.core.errors import ExitCode, UsageError
from harness.core.processes import processors
from harness.core.text import escape_controls, number_of
from harness.grading.ledger.places import is_server
from harness.service import monitoring
from harness.service.settings import Settings, own_names
from harness.service.settings import data_folder as usual_folder
from harness.service.storage import data_folder

_SERVE_PAGE = """\
usage: gtp-harness serve [OPTION…]

Serve courses: students submit in a browser and see the public tests run; teachers
grade and release marks. Without options, all data are in a folder of this user, and
only this machine can reach the pages. The first start prints a link with which the
first teacher signs in, once. Submissions are graded as gtp-harness grade does it.

[options]

Exit status:
    0  with --check: nothing is missing
    1  with --check: something is missing or wrong
    2  the input was bad, or the port is taken
    3  the harness itself failed, or the database's server cannot be used
  130  interrupted with Ctrl-C, or 143, ended by SIGTERM: unfinished work continues
       at the next start

Examples:
  gtp-harness serve --check
  gtp-harness serve
  gtp-harness serve --data /srv/tests --port 8080 --workers 8
  gtp-harness serve --database postgresql://tests@db.example.org/tests \\
      --address https://tests.example.org --host 0.0.0.0
  gtp-harness serve --scheduler tls://10.0.0.1:8786 --tls ~/cluster --workers 40"""


def _run_serve(arguments: argparse.Namespace) -> int:
    as_given = "host port address most_uploads mail mail_from oidc oidc_client oidc_claim oidc_add"
    settings = place(arguments)._replace(
        **{name: getattr(arguments, name) for name in as_given.split()},
        allowed_hosts=",".join(arguments.allowed_host),
        workers=arguments.workers or processors(),
        sandbox="off" if arguments.unsafe_no_sandbox else arguments.sandbox,
        largest=arguments.largest << 20,
        most_uploaded=arguments.most_uploaded << 20,
        log="-" if arguments.log_stderr else "",
        keep=",".join(arguments.keep),
        mail_password=_absolute(arguments.mail_password),
        oidc_secret=_absolute(arguments.oidc_secret),
    )
    if arguments.scheduler:
        from harness.cli import cluster

        found = cluster.connector_settings(arguments)
        settings = settings._replace(
            scheduler=found.scheduler, tls=found.tls, bytes_host=found.host, bytes_port=found.port
        )
    if not arguments.check:
        return _serve(settings)
    from harness.service.operations import health

    status = ExitCode.OK
    for name, look in health.LOOKS.items():
        one = health.of(name, look, settings)
        print(escape_controls(f"{one.name:10}{'' if one.is_good else 'NOT GOOD: '}{one.message}"))
        status = status if one.is_good else ExitCode.FAILED
    return status


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""


def _serve(settings: Settings) -> int:
    from harness.service import processes, serving
    from harness.service.operations.data import read_rules
    from harness.service.people import mails, oidc

    data_folder.keep_files_private()
    own_names(settings)
    mails.server(settings)  # what cannot be read is told now, and not when a mail waits
    oidc.check(settings)
    read_rules(settings.keep)
    with processes.open_socket(settings.host, settings.port) as open_socket:
        found = settings._replace(port=open_socket.getsockname()[1])
        link = serving.first_link(found)
        print(f"Data: {found.data}\nPages: {found.base}", flush=True)
        print_timezone(found)
        if link:
            print(f"Sign in, once: {link}", flush=True)
        serving.serve(found, open_socket)
    return ExitCode.OK


def print_timezone(settings: Settings) -> None:
    """Warn once if the data were last served in another time zone, and write this one down."""
    now = data_folder.find_zone()
    if why := data_folder.explain_other_zone(settings.data, now):
        monitoring.warn(settings, why)
    data_folder.keep_zone(settings.data, now)


def _add_serve_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(add, "--data", "--database")
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="address to listen on (default: %(default)s, this machine only)")  # fmt: skip
    add("--port", type=port, default=8017, metavar="N",
        help="port to listen on; 0: any free one (default: %(default)s)")  # fmt: skip
    add("--address", default="", metavar="URL",
        help="address that people type if a proxy is in front: https://…")  # fmt: skip
    add("--allowed-host", action="append", default=[], metavar="NAME",
        help="another name by which the service may be asked; repeatable (default: those of"
        " --address, --host and this machine)")  # fmt: skip
    add("--workers", type=whole(1), default=0, metavar="N",
        help="submissions run at a time (default: the number of cores; with --scheduler, twice as"
        " many as its workers keep all of them busy)")  # fmt: skip
    add("--largest", type=whole(1, "a whole number of megabytes from 1"), default=64, metavar="MB",
        help="largest file that is uploaded, in MB (default: %(default)s); no submission may"
        " have more than 32")  # fmt: skip
    add("--most-uploads", type=whole(1), default=100, metavar="N",
        help="submissions of a student to an assignment (default: %(default)s)")  # fmt: skip
    add("--most-uploaded", type=whole(1, "a whole number of megabytes from 1"), default=2048,
        metavar="MB",
        help="size of these together, in MB (default: %(default)s)")  # fmt: skip
    add_shared(add, "--sandbox", "--unsafe-no-sandbox", "--scheduler", "--tls", "--bytes-at")
    add("--log-stderr", action="store_true",
        help="write the log to standard error instead of files in DIR/logs")  # fmt: skip
    add("--mail", default="", metavar="SERVER",
        help="smtp://USER@HOST (with STARTTLS) or smtps://USER@HOST: send links (default:"
        " mails are files in DIR/mail)")  # fmt: skip
    add("--mail-from", default="", metavar="ADDRESS", help="sender of the mails")
    add("--mail-password", default="", metavar="FILE",
        help="file with the password of USER (default: GTP_HARNESS_MAIL_PASSWORD in the"
        " environment)")  # fmt: skip
    add("--oidc", default="", metavar="ISSUER",
        help="OpenID provider for signing in besides links: https://…")  # fmt: skip
    add("--oidc-client", default="", metavar="ID", help="ID of this service at the provider")
    add("--oidc-secret", default="", metavar="FILE", help="file with the secret of that client")
    add("--oidc-claim", default="email", metavar="CLAIM",
        help="claim that identifies people: email, if verified, or a column of rosters of that"
        " name, such as sub (default: %(default)s)")  # fmt: skip
    add("--oidc-add", action="store_true",
        help="add people with a verified mail address that nobody has yet")  # fmt: skip
    add_shared(add, "--keep")
    add("--check", action="store_true",
        help="start nothing; check whether everything that a service needs is there")  # fmt: skip


SERVE = Command("serve", _SERVE_PAGE, _add_serve_options, _run_serve)


# --- What the commands of the service share: where its data are ----------------------------------


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="DIR", help=argparse.SUPPRESS)
    add_shared(parser.add_argument, "--data", "--database")


def require(settings: Settings) -> None:
    """Raise :class:`UsageError` if the data folder holds no service."""
    if not settings.keys.is_dir():
        raise UsageError(
            f"found no service in {settings.data}: give its --data; gtp-harness serve makes one"
        )


def place(arguments: argparse.Namespace) -> Settings:
    """Return settings that say where the data are.

    Raises:
        UsageError: a package is missing, or --database names no server's database.
    """
    requirements.require(
        "the service", "service", "fastapi", "jinja2", "multipart", "sqlalchemy", "uvicorn"
    )
    if arguments.database and not is_server(arguments.database):  # which may have a password in it
        raise UsageError("--database: expected postgresql://USER@HOST/DATABASE")
    if arguments.database:
        requirements.require("--database on a server", "postgresql", "psycopg")
    return Settings(
        Path(arguments.data).absolute() if arguments.data else usual_folder(), arguments.database
    )


# --- ``gtp-harness backup`` and ``restore``: all of a service in a folder ------------------------


_BACKUP_PAGE = """\
usage: gtp-harness backup DIR [OPTION…]

Copy a whole service into a new folder: its database, ledgers, keys, submissions, and
what grading wrote. The service may be running; unfinished work is redone after a
restore. A database on a server is copied by pg_dump. The copy contains the keys and
all submissions: keep it as safe as the service.

[options]

Exit status:
    1  backed up, but the keys of some ledgers are missing, which are named
    2  the input was bad, such as a DIR that exists
    3  the database cannot be used now

Examples:
  gtp-harness backup /backups/$(date +%F)
  gtp-harness backup /backups/tests --data /srv/tests \\
      --database postgresql://tests@db.example.org/tests"""


_RESTORE_PAGE = """\
usage: gtp-harness restore DIR [OPTION…]

Restore a service from a folder that gtp-harness backup wrote. Its data folder must
not exist yet. If the backup has a database of a server, give an empty one with
--database. First, every file is compared with its SHA-256. Last, the audit log and
every ledger are checked: each mark is as it was given.

[options]

Exit status:
    1  restored, but the keys of some ledgers are missing, which are named
    2  the input was bad: the backup is not complete, or was edited
    3  the database's server cannot be used now

Examples:
  gtp-harness restore /backups/2026-01-29 --data /srv/tests
  gtp-harness restore /backups/tests --data /srv/tests \\
      --database postgresql://tests@db.example.org/tests"""


_KEYLESS_SERVICE = (
    "the service has a ledger without its key. The backup has the ledger, but nothing is graded"
    " with it, here or after a restore, until its key is there: {}"
)
_KEYLESS_BACKUP = (
    "the backup has a ledger without its key, which was copied but not checked. Nothing is graded"
    " with it until its key is there: {}"
)


def _copy(arguments: argparse.Namespace, *, is_backup: bool) -> int:
    """Back up or restore, and say what was copied where."""
    if not arguments.folder:
        if is_backup:
            BACKUP.refuse("expected the new folder DIR")
        RESTORE.refuse("expected the folder DIR of a backup")
    settings, folder = place(arguments), Path(arguments.folder).absolute()
    from harness.service.operations.data import back_up, restore

    data_folder.keep_files_private()
    if is_backup:
        copied, warning, target = back_up(settings, folder), _KEYLESS_SERVICE, arguments.folder
    else:
        copied, warning, target = restore(folder, settings), _KEYLESS_BACKUP, settings.data
    print(f"{number_of(copied.files, 'file')}, {copied.size:,} bytes, in {target}")
    for key in copied.keyless:
        print(f"warning: {warning.format(key)}", file=sys.stderr)
    if not is_backup:
        print(f"The audit log and all {'other ' if copied.keyless else ''}ledgers are intact.")
    return ExitCode.FAILED if copied.keyless else ExitCode.OK


BACKUP = Command("backup", _BACKUP_PAGE, _add_folder, partial(_copy, is_backup=True))
RESTORE = Command("restore", _RESTORE_PAGE, _add_folder, partial(_copy, is_backup=False))


# --- ``gtp-harness prune``: remove what a service need not keep any longer -----------------------


_PRUNE_PAGE = """\
usage: gtp-harness prune [OPTION…]

Delete data that a service no longer needs. The service itself does so once a day,
by the --keep that it was started with. It may be running.

Log files are deleted after 90 days; mails that were sent, and sessions, links and
tokens that ended, after 30; results of public tests after 365. Questions about the
marks of an assignment may come up to 1095 days after its last date, submission or
grading (marks). Until then its originals and the audit log since its start stay,
whatever their own rules say. Originals are deleted after 1095 days, the audit log
never, unless you say so. Marks, ledgers and the output of gradings stay. The audit
log records what was deleted.

[options]

Exit status:
    2  the input was bad, such as a DIR without a service
    3  the database cannot be used now, or was edited

Examples:
  gtp-harness prune --dry-run
  gtp-harness prune --keep logs=14 --keep originals=forever --data /srv/tests"""


def _prune(arguments: argparse.Namespace) -> int:
    settings = place(arguments)._replace(keep=",".join(arguments.keep))
    from harness.service.operations.data import prune, read_rules
    from harness.service.storage.database import Database

    read_rules(settings.keep)
    require(settings)
    with closing(Database(settings)) as database:
        found = prune(settings, database, is_dry=arguments.dry_run)
    for one in found:
        print(f"{one.kind:10}{one.number:8,}{f'  {one.size:,} bytes' if one.size else ''}")
    if arguments.dry_run:
        print("nothing was deleted: --dry-run")
    return ExitCode.OK


def _add_prune_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(add, "--data", "--database", "--keep")
    add("--dry-run", action="store_true", help="only show how much would be deleted")


PRUNE = Command("prune", _PRUNE_PAGE, _add_prune_options, _prune)
