"""``gtp-harness generate`` for a declared game: from play, game records and given positions."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.assignments.assignment import Assignment
from harness.banks.bank_runs import EngineAsker, EngineBench
from harness.cli import banks
from harness.declared.declaration import Declaration
from harness.errors import UsageError
from harness.exits import ExitCode
from harness.generating.own import openings, test_production
from harness.generating.own.drafts import Drafter
from harness.generating.own.test_production import ProducedTests, Sources, TestRequest, report
from harness.generating.record_reading import Choices, records
from harness.reading import casefile, conversion
from harness.records import CaseFile
from harness.report import report_files
from harness.specifications.record import Specification

_ANSWERS, _GTP = ".txt", ".gtp"  # endings of names of case files


class OwnGame:
    """One call of the command, for a game that is declared."""

    def __init__(self, given: Namespace, found: Assignment, chosen: Choices) -> None:
        specification, declaration = found.specification, found.declaration
        assert specification is not None
        assert declaration is not None
        self._given = given
        self._found = found
        self._choices = chosen
        self._specification: Specification = specification
        self._declaration = _of_sizes(declaration, given.sizes)

    def run(
        self,
        cases: Callable[[Sequence[str]], tuple[CaseFile, ...]],
        private: bool | None,
        on_step: Callable[[str], None],
        heading: Iterable[str],
    ) -> ExitCode:
        """Make the cases, write them, and tell the result.

        ``cases``: reads case files. ``private``: which half of the game records; None: all.
        """
        given = self._given
        beside, excluded = cases([*given.beside, *given.kill]), cases(given.exclude)
        found = openings.Records(
            self._specification,
            self._declaration,
            self._choices,
            private=private,
            strict=given.strict,
        )
        positions = [
            *found.openings(records(given.games)),
            *openings.of_cases(beside, self._declaration),
        ]
        drafter = Drafter(
            self._specification, self._declaration, self._found.place, positions,
            refusals=not given.output.endswith(_ANSWERS),
        )  # fmt: skip
        with banks.engines(given, self._found) as engines:
            commands, protocol = self._specification.commands, self._found.protocol
            asker = EngineAsker(commands, given.sandbox, protocol=protocol, strict=False)
            bench = EngineBench(engines, self._specification, self._found.place, asker)
            request = self._request(bench, beside, (*beside, *excluded))
            produced = test_production.produce(request, drafter, bench, on_step)
        sources = Sources(found.counts, len(positions), drafter.unsaid)
        return self._report(produced, sources, list(heading))

    def _request(
        self, bench: EngineBench, beside: Sequence[CaseFile], excluded: Sequence[CaseFile]
    ) -> TestRequest:
        given = self._given
        identities = {
            one for case in excluded for one in openings.identities(case, self._declaration)
        }
        is_chosen_for = given.kill or banks.are_known_wrong(given, self._found)
        most = given.tests or (40 if is_chosen_for else 16)
        return TestRequest(
            self._choices, most, identities, bench.find_caught(beside), bool(given.kill)
        )

    def _report(
        self,
        produced: ProducedTests,
        sources: Sources,
        heading: list[str],
    ) -> ExitCode:
        if not produced.drafts and self._given.kill and not produced.survivors:
            print("these cases catch every engine: no test is needed, and no file is written")
            return ExitCode.OK
        if not produced.drafts:
            raise UsageError("nothing can be asked with these options; no file is written")
        self._copy_files(produced)
        text = test_production.case_file(produced.drafts, heading)
        report_files.write(self._given.output, [self._in_format(text)])
        print("\n".join(report(produced, sources)))
        return ExitCode.FAILED if produced.survivors else ExitCode.OK

    def _copy_files(self, produced: ProducedTests) -> None:
        """Copy the files that tests name beside the case file, unless they are there.

        Raises:
            UsageError: another file of that name is there.
        """
        place, beside = self._found.place, Path(self._given.output).parent
        for name in test_production.find_named_files(produced.drafts, self._declaration, place):
            content = (place / name).read_bytes()
            if not (beside / name).exists():
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).write_bytes(content)
            elif (beside / name).read_bytes() != content:
                raise UsageError(
                    f"{beside / name} differs from the file of that name in {place}, and tests"
                    " need the latter: move it, or write the cases elsewhere"
                )

    def _in_format(self, text: str) -> str:
        """Return a case file in the format that the ending of its name says."""
        if not self._given.output.endswith(_ANSWERS):
            return text
        return conversion.to_answers(casefile.parse(text.encode(), self._given.output + _GTP))


def _of_sizes(declaration: Declaration, sizes: range | None) -> Declaration:
    """Return the declaration with those boards alone that are wanted."""
    if sizes is None:
        return declaration
    kept = tuple(one for one in declaration.game.sizes if set(one) <= set(sizes))
    if not kept:
        raise UsageError("--sizes: the game has no board with such sides")
    return declaration._replace(game=declaration.game._replace(sizes=kept))
