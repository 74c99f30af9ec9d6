"""go-sql-driver/mysql, when Go is installed; the module comes through Go's module proxy."""

import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).parent / "go"


@pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")
def test_go_driver(server, database, tmp_path):
    place = tmp_path / "go"
    shutil.copytree(SOURCE, place)
    built = subprocess.run(["go", "build", "-o", "drivers", "."], cwd=place, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    login = f"root:{server.password}" if server.password else "root"
    result = subprocess.run([place / "drivers", f"{login}@tcp({server.host}:{server.port})/{database}"],
                            capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr
