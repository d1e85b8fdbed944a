"""``gtp-harness serve``: the command line of the service."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli import arguments, service_options
from harness.cli.arguments import CommandParser
from harness.cli.commandline import Command, port, whole
from harness.errors import ExitCode
from harness.processes import processors
from harness.text import escape_controls

if TYPE_CHECKING:
    from harness.service.settings import Settings

_PAGE = """\
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


def _run(given: argparse.Namespace) -> int:
    settings = service_options.place(given)._replace(
        host=given.host,
        port=given.port,
        address=given.address,
        allowed_hosts=",".join(given.allowed_host),
        workers=given.workers or processors(),
        sandbox="off" if given.unsafe_no_sandbox else given.sandbox,
        largest=given.largest << 20,
        most_uploads=given.most_uploads,
        most_uploaded=given.most_uploaded << 20,
        log="-" if given.log_stderr else "",
        keep=",".join(given.keep),
        mail=given.mail,
        mail_from=given.mail_from,
        mail_password=str(Path(given.mail_password).absolute()) if given.mail_password else "",
    )
    settings = _with_cluster(_with_oidc(settings, given), given)
    return _check(settings) if given.check else _serve(settings)


def _with_oidc(settings: Settings, arguments: argparse.Namespace) -> Settings:
    return settings._replace(
        oidc=arguments.oidc,
        oidc_client=arguments.oidc_client,
        oidc_secret=str(Path(arguments.oidc_secret).absolute()) if arguments.oidc_secret else "",
        oidc_claim=arguments.oidc_claim,
        oidc_add=arguments.oidc_add,
    )


def _with_cluster(settings: Settings, arguments: argparse.Namespace) -> Settings:
    if not arguments.scheduler:
        return settings
    from harness.cli import cluster

    found = cluster.connector_settings(arguments)
    return settings._replace(
        scheduler=found.scheduler, tls=found.tls, bytes_host=found.host, bytes_port=found.port
    )


def _check(settings: Settings) -> int:
    from harness.service.operations.health import check_settings

    is_good = True
    for found in check_settings(settings):
        print(
            escape_controls(f"{found.name:10}{'' if found.is_good else 'NOT GOOD: '}{found.said}")
        )
        is_good &= found.is_good
    return ExitCode.OK if is_good else ExitCode.FAILED


def _serve(settings: Settings) -> int:
    from harness.service import processes, serving
    from harness.service.operations import pruning
    from harness.service.people import mail_server, oidc
    from harness.service.settings import own_names
    from harness.service.storage import data_folder

    data_folder.keep_files_private()
    own_names(settings)
    mail_server.server(settings)  # what cannot be read is told now, and not when a mail waits
    oidc.check(settings)
    pruning.read(settings.keep)
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
    from harness.service import monitoring
    from harness.service.storage import data_folder

    now = data_folder.find_zone()
    if why := data_folder.explain_other_zone(settings.data, now):
        monitoring.warn(settings, why)
    data_folder.keep_zone(settings.data, now)


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    service_options.add_place(parser)
    add("--host", default="127.0.0.1", metavar="ADDRESS",
        help="address to listen on (default: %(default)s, this machine only)")  # fmt: skip
    add("--port", type=port, default=8017, metavar="N",
        help="port to listen on; 0: any free one (default: %(default)s)")  # fmt: skip
    add("--address", default="", metavar="URL",
        help="address that people type if a proxy is in front: https://…")  # fmt: skip
    add("--allowed-host", action="append", default=[], metavar="NAME",
        help="another name by which the service may be asked; repeatable (default: those of"
        " --address, --host and this machine)")  # fmt: skip
    add("--workers", type=whole(1, "a whole number from 1"), default=0, metavar="N",
        help="submissions run at a time (default: the number of cores; with --scheduler, twice as"
        " many as its workers keep all of them busy)")  # fmt: skip
    add("--largest", type=whole(1, "a whole number of megabytes from 1"), default=64, metavar="MB",
        help="largest file that is uploaded, in MB (default: %(default)s); no submission may"
        " have more than 32")  # fmt: skip
    add("--most-uploads", type=whole(1, "a whole number from 1"), default=100, metavar="N",
        help="submissions of a student to an assignment (default: %(default)s)")  # fmt: skip
    add("--most-uploaded", type=whole(1, "a whole number of megabytes from 1"), default=2048,
        metavar="MB",
        help="size of these together, in MB (default: %(default)s)")  # fmt: skip
    arguments.add_sandbox(add)
    arguments.add_unsafe(add)
    arguments.add_cluster(add)
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
        " name,"
        " such as sub (default: %(default)s)")  # fmt: skip
    add("--oidc-add", action="store_true",
        help="add people with a verified mail address that nobody has yet")  # fmt: skip
    service_options.add_keep(parser)
    add("--check", action="store_true",
        help="start nothing; check whether everything that a service needs is there")  # fmt: skip


SERVE = Command("serve", _PAGE, _add_options, _run)
