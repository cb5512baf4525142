"""Paths that lead elsewhere, or to what is no file: refused before anything is opened, in every field for a path."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading

import pytest

pytest.importorskip("starlette")

from conftest import ROOT
from coterie.errors import CoterieError
from coterie.ui.locations import Locations
from page_client import Visitor, words_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices are those of POSIX")

OPENED = []  # what was opened while somebody watched
WATCHED = []


def _watch(event, args):
    if WATCHED and event in ("open", "os.listdir", "os.scandir", "shutil.copyfile", "os.rename", "os.mkdir"):
        OPENED.append(str(args[0]))


sys.addaudithook(_watch)


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """What nobody must reach: names with the word canary."""
    folder = tmp_path_factory.mktemp("canary")
    shutil.copy(ROOT / "examples" / "patients.csv", folder / "secret.csv")
    (folder / "secret.toml").write_text("k = 5\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory, outside):
    folder = tmp_path_factory.mktemp("root")
    shutil.copy(ROOT / "examples" / "patients.csv", folder)
    (folder / "data").mkdir()
    shutil.copy(ROOT / "examples" / "patients.csv", folder / "data" / "inside.csv")
    os.symlink(outside / "secret.csv", folder / "link.csv")
    os.symlink(outside / "secret.toml", folder / "link.toml")
    os.symlink(outside, folder / "folder-link")
    os.symlink(outside, folder / "data" / "nested")
    os.symlink("folder-link", folder / "second")
    os.symlink("loop.csv", folder / "loop.csv")
    os.symlink("/dev/zero", folder / "zero.csv")
    os.symlink("/proc/self/environ", folder / "environ.csv")
    os.symlink("data/inside.csv", folder / "good.csv")
    for name in ("pipe.csv", "pipe.toml", "pipe"):
        os.mkfifo(folder / name)
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket must be short
        made.bind("socket.csv")
        os.chdir(here)
    return folder


@pytest.fixture(scope="module")
def visitor(root):
    with Visitor(root) as visitor:
        visitor.send("/open", {"path": "patients.csv"})
        visitor.send("/columns", {"action": "confirm-all"})
        visitor.send("/promise", {"k": "3", "missing-policy": "group", "seed": "7"})
        yield visitor


def elsewhere(outside):
    """Texts that lead out, or that no name can be."""
    base = outside.name
    return [
        f"../{base}/secret.csv",
        f"data/../../{base}/secret.csv",
        f"./../{base}/secret.csv",
        f"data/..//..//{base}/secret.csv",
        str(outside / "secret.csv"),
        f"/{outside}/secret.csv",
        f"..\\{base}\\secret.csv",
        f"data\\..\\..\\{base}\\secret.csv",
        f"%2e%2e/{base}/secret.csv",
        f"..%2f{base}%2fsecret.csv",
        f"..%5c{base}%5csecret.csv",
        "//server/share/secret.csv",
        "\\\\server\\share\\secret.csv",
        "file:///etc/passwd",
        "patients.csv\0",
        "patients.csv\0.toml",
        "pat\nients.csv",
        "\u202epatients.csv",
        "\x1b[2Jpatients.csv",
        "..",
        "../",
        ".../...",
        "~/secret.csv",
        "$HOME",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "/dev/tty",
        "/sys/kernel",
        "link.csv",
        "folder-link/secret.csv",
        "data/nested/secret.csv",
        "second/secret.csv",
        "loop.csv",
        "zero.csv",
        "environ.csv",
        "pipe.csv",
        "socket.csv",
        "x" * 300,
        "x" * 5_000,
        "x/" * 2_000,
        "data/inside.csv/more",
    ]


FIELDS = [
    ("/open", "path", {}),
    ("/check", "path", {}),
    ("/check", "recipe", {"path": "patients.csv"}),
    ("/check/replay", "path", {"input": "patients.csv"}),
    ("/recipe/load", "file", {}),
]


def refused(visitor, path, form, statuses=(422,)):
    """Send a form that must be refused, without a job and without opening anything but our own."""
    before = visitor.session.jobs.last
    WATCHED.append(True)
    OPENED.clear()
    try:
        answer = visitor.post(path, form)
    finally:
        WATCHED.clear()
    assert answer.status_code in statuses, form
    assert visitor.session.jobs.last is before, form
    return answer


def touched(*names):
    return [path for path in OPENED if any(name in path for name in names)]


@pytest.mark.parametrize(("path", "field", "rest"), FIELDS)
def test_no_field_leads_elsewhere(visitor, outside, path, field, rest):
    for text in elsewhere(outside):
        refused(visitor, path, {**rest, field: text})
        assert not touched("canary", "/proc", "/dev/", "/etc/", "pipe", "socket.csv"), text


def test_a_folder_is_no_file_and_a_file_no_folder(visitor):
    for path, form in (
        ("/open", {"path": "data"}),
        ("/open", {"path": ""}),
        ("/open", {"path": "."}),
        ("/recipe/load", {"file": "data"}),
        ("/check", {"path": "patients.csv", "recipe": "data"}),
        ("/check/replay", {"path": "patients.csv", "input": "patients.csv"}),
        ("/check", {"path": "data"}),  # a folder, but no bundle
    ):
        refused(visitor, path, form)


@pytest.mark.parametrize("field", ["folder", "file"])
def test_nothing_is_written_elsewhere(visitor, root, outside, field):
    before = sorted(outside.iterdir()), sorted(root.parent.iterdir())
    path, end = {"folder": ("/release", ""), "file": ("/recipe/save", ".toml")}[field]
    names = [f"../{outside.name}/new", str(outside / "new"), "folder-link/new", "data/nested/new", "second/new",
             "/proc/new", "/dev/shm/new", "\\\\server\\new", "new\0", "x" * 300, "none/new", "patients.csv/new",
             "//new", "../", "data/../../new"]  # fmt: skip
    for text in (*(name + end for name in names), "..", "", ".", "/", str(root)):
        refused(visitor, path, {field: text, "replace": "yes"})
        assert not touched("canary", "/proc", "/dev/"), text
    links = {"folder": ["folder-link", "data/nested", "link.csv", "pipe", "loop.csv"], "file": ["link.toml"]}[field]
    for text in links:
        refused(visitor, path, {field: text, "replace": "yes"})
        assert not touched("canary", "pipe"), text
    assert (sorted(outside.iterdir()), sorted(root.parent.iterdir())) == before
    assert (outside / "secret.toml").read_text(encoding="utf-8") == "k = 5\n"


def test_browsing_stays_inside(visitor, outside):
    for text in elsewhere(outside):
        if any(not sign.isascii() or not sign.isprintable() for sign in text) or len(text) > 3_000:
            continue
        WATCHED.append(True)
        OPENED.clear()
        answer = visitor.get(f"/open?in={text.replace('%', '%25')}")
        WATCHED.clear()
        assert answer.status_code == 422, text
        assert "secret.csv" not in answer.text.replace(text, "")
        assert not touched("canary", "/proc", "/dev/"), text
    for encoded in ("%00", "a%0ab", "%e2%80%ae", "%5c%5cserver", "..%2f..%2fetc"):
        assert visitor.get(f"/open?in={encoded}").status_code == 422
    assert visitor.get("/open?in=%ff").status_code == 400


def test_what_leads_elsewhere_is_not_listed(visitor):
    page = words_of(visitor.get("/open").text)
    assert "patients.csv" in page
    assert "good.csv" in page  # a link that stays inside
    for name in ("link.csv", "folder-link", "second", "loop.csv", "zero.csv", "environ.csv", "pipe", "socket.csv"):
        assert name not in page
    assert "nested" not in words_of(visitor.get("/open?in=data").text)


def in_time(work, seconds=60):
    """Whether some work comes to an end: it may wait for a pipe that nobody writes to."""
    done = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert done, "it hangs"
    return done[0]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((k, n) for k in ("pipe", "link", "folder") for n in ("manifest.json", "recipe.toml")),
        ("huge", "manifest.json"),
    ],
)
def test_a_bundle_holds_plain_files(visitor, root, kind, name):
    """A pipe in the place of a manifest would hold whoever reads it, and with them the lock of all pages."""
    folder = root / f"bundle-{kind}-{name}"
    folder.mkdir()
    place = folder / name
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        os.symlink("/proc/self/environ", place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.touch()
        os.truncate(place, 8 << 30)  # takes no room
    for path, form in (
        ("/check", {"path": folder.name}),
        ("/check/replay", {"path": folder.name, "input": "patients.csv"}),
        ("/release", {"folder": folder.name, "replace": "yes"}),
    ):
        in_time(lambda path=path, form=form: refused(visitor, path, form))
        assert not touched(f"{folder.name}/")


def test_a_history_that_is_no_file_is_not_followed(root, tmp_path):
    """Pipes and links beside a file are left alone, and so is what another person wrote."""
    shutil.copy(root / "patients.csv", tmp_path)
    beside = tmp_path / "patients.csv.coterie-history.json"
    for make in (lambda: os.mkfifo(beside), lambda: os.symlink(root / "patients.csv", beside), beside.mkdir):
        make()
        with Visitor(tmp_path) as visitor:
            in_time(lambda visitor=visitor: visitor.send("/open", {"path": "patients.csv"}))
            assert visitor.session.unconfirmed
        beside.rmdir() if beside.is_dir() and not beside.is_symlink() else beside.unlink()


def test_a_path_is_told_as_it_is(tmp_path):
    made = Locations(tmp_path)
    (tmp_path / ".hidden").mkdir()
    assert made.below(made.new(".hidden/out")) == ".hidden/out"
    assert made.below(made.new(".out")) == ".out"
    assert made.below(made.folder("")) == ""
    assert made.below(made.folder(str(made.root))) == ""


def test_the_system_is_closed_even_below_its_root():
    made = Locations("/")
    for text in ("/proc/self/environ", "proc/self/environ", "dev/null", "sys", "/dev/../proc/self/environ", "proc"):
        for look in (made.file, made.folder, made.either):
            with pytest.raises(CoterieError):
                look(text)
    for text in ("proc/new", "dev/shm/new"):
        with pytest.raises(CoterieError):
            made.new(text)


def test_a_folder_that_can_not_be_read_is_told(visitor, root):
    folder = root / "closed"
    folder.mkdir(mode=0)
    try:
        if os.access(folder, os.R_OK):
            pytest.skip("this user may read anything")
        answer = visitor.get("/open?in=closed")
        assert answer.status_code == 422
        assert "refused to read" in words_of(answer.text)
    finally:
        folder.chmod(0o700)


def test_a_root_is_a_folder(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(CoterieError, match="must be a folder"):
            Locations(place)
