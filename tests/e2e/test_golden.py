"""The golden scripts of tests/golden against Clearway: rows, types, warnings and errors as MySQL gave them. See golden.py."""

import pytest

import golden


@pytest.mark.parametrize("script", golden.scripts(), ids=lambda s: str(s.relative_to(golden.SCRIPTS).with_suffix("")))
def test_script(script, server, clearway_only):
    found, count = golden.differences(script, server.host, server.port)
    assert not found, f"{len(found)} of {count} statements differ:\n\n" + "\n\n".join(found)
