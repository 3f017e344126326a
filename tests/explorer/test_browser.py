"""The page in a real browser: it plays, answers keys and clicks, has the schedule's numbers, and fetches nothing."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gossamer
from gossamer.explorer import explore
from gossamer.simulation.flits import TrafficSettings, record_traffic
from gossamer.simulation.random_arrivals import Settings, record
from gossamer.simulation.random_arrivals.schemes import star

pytestmark = pytest.mark.browser
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-gpu"]


@pytest.fixture(scope="module")
def browser():
    driver = pytest.importorskip(
        "playwright.sync_api", reason="needs the extra 'browser': pip install gossamer[browser]"
    )
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with driver.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def plans():
    return {
        "torus": gossamer.plan("torus:4x4", "allgather"),
        "space": gossamer.plan("torus:3x3x3", "alltoall"),
        "worms": gossamer.plan("torus:5x5", "allgather", switching="wormhole"),
        "tree": gossamer.plan("fat-tree:k=2,h=3,capacity=exponential", "alltoall"),
    }


@pytest.fixture(scope="module")
def pages(plans, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, plan in plans.items():
        explore(plan, folder / f"{name}.html")
    explore(
        [gossamer.plan("array:4x4", "allgather", algorithm=a) for a in ("best", "greedy-flooding")], folder / "two.html"
    )
    return folder


@pytest.fixture
def shown(browser, pages):
    """Open a page at a size and color scheme; at the end nothing was complained of, and nothing was fetched."""
    said, contexts = [], []

    def open_page(name, size=(1100, 720), scheme="light", address=""):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != page_url else None)
        page_url = (pages / f"{name}.html").as_uri()
        page.goto(page_url + address)
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [word for word in said if not word.startswith("file:")] == []


def state(page, what):
    return page.evaluate(f"explorer.state.{what}")


def settled(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def middle(page, node):
    """Return the place of a node on the page."""
    return page.evaluate(
        "(n) => { const v = explorer.painters[0].view, b = v.canvas.getBoundingClientRect();"
        " return [b.left + v.x[n], b.top + v.y[n]]; }",
        node,
    )


@pytest.mark.parametrize("name", ["torus", "space", "worms", "tree"])
def test_the_numbers_on_the_page_are_those_of_the_schedule(shown, plans, name):
    page, plan = shown(name), plans[name]
    settled(page)
    assert page.text_content("#time") == str(plan.completion_time)
    assert page.text_content("#bound") == str(plan.bound)
    assert page.text_content("#hops") == f"{plan.schedule.timeline().count:,}"
    assert plan.schedule.network.spec in page.text_content("h1")
    load = page.evaluate("[...explorer.scenes[0].packets].reduce((a, b) => a + b, 0)")
    assert load == page.evaluate("explorer.scenes[0].way.length")


def test_play_moves_time_and_stops_at_the_end(shown):
    page = shown("torus")
    page.keyboard.press(" ")
    page.wait_for_function("explorer.state.t > 0.2")
    assert state(page, "playing")
    page.select_option("#speed", "16")
    page.wait_for_function("!explorer.state.playing", timeout=8000)
    assert state(page, "t") == 4
    page.keyboard.press("Home")
    assert state(page, "t") == 0


def test_slider_and_keys_go_to_a_slot_and_the_count_of_packets_follows(shown, plans):
    page, rows = shown("torus"), plans["torus"].schedule.timeline()
    page.evaluate("const s = document.getElementById('slider'); s.value = 2.5; s.dispatchEvent(new Event('input'))")
    settled(page)
    assert page.text_content("#clock").startswith("slot 2, time 2.5 of 4")
    assert page.text_content("#moving") == str(int(((rows.start <= 2) & (rows.end > 2)).sum()))
    page.keyboard.press("ArrowRight")
    settled(page)
    assert state(page, "t") == 3
    assert page.text_content("#moving") == str(int(((rows.start <= 3) & (rows.end > 3)).sum()))


def test_a_click_on_a_node_tells_its_life_and_the_message_in_it_leads_on(shown, plans):
    page, rows = shown("torus"), plans["torus"].schedule.timeline()
    page.evaluate("explorer.seek(2)")
    settled(page)
    page.mouse.click(*middle(page, 6))
    settled(page)
    assert state(page, "node") == 6
    assert "node (1,2)" in page.text_content("#panel h2")
    assert page.text_content("#came") == str(int(((rows.target == 6) & (rows.end <= 2)).sum()))
    page.click("#panel a[data-choose^=message]")
    settled(page)
    assert "message" in page.text_content("#panel h2")
    assert page.text_content("#all") == "15"
    page.keyboard.press("Escape")
    settled(page)
    assert state(page, "message") == -1
    assert page.text_content("#time") == "4"


def test_a_click_between_two_nodes_tells_of_the_link(shown, plans):
    page = shown("torus")
    settled(page)
    (ax, ay), (bx, by) = middle(page, 5), middle(page, 6)
    page.mouse.click((ax + bx) / 2, (ay + by) / 2 + 4)
    settled(page)
    number = state(page, "link")
    ends = page.evaluate("(l) => [explorer.scenes[0].source[l], explorer.scenes[0].target[l]]", number)
    assert set(ends) == {5, 6}
    rows = plans["torus"].schedule.timeline()
    crossing = int(((rows.source == ends[0]) & (rows.target == ends[1])).sum())
    assert page.text_content("#packets") == str(crossing)
    assert page.text_content("#busy") == f"{100 * crossing / 4:.1f}%"


def test_the_address_brings_back_time_choice_and_view(shown):
    page = shown("space", address="#t=3&node=4&mode=past&turn=0.30,0.20&theme=dark")
    settled(page)
    assert (state(page, "t"), state(page, "node"), state(page, "mode")) == (3, 4, "past")
    assert page.evaluate("explorer.painters[0].view.solid")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash.includes('t=4')")
    assert "node=4" in page.evaluate("location.hash")


def test_a_senseless_address_is_a_fresh_start(shown):
    page = shown("torus", address="#t=nan&node=99999&message=-4&view=1,x&turn=,&mode=%3Cb%3E")
    settled(page)
    assert (state(page, "t"), state(page, "node"), state(page, "message"), state(page, "mode")) == (0, -1, -1, "load")


COUNT_COLORS = """() => {
  const seen = explorer.painters[0].view.canvas, copy = new OffscreenCanvas(seen.width, seen.height);
  const pen = copy.getContext("2d", { willReadFrequently: true }), found = new Set();
  pen.drawImage(seen, 0, 0);
  const d = pen.getImageData(0, 0, copy.width, copy.height).data;
  for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) found.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
  return found.size;
}"""


def colors(page):
    """Return how many different colors the picture has."""
    return page.evaluate(COUNT_COLORS)


@pytest.mark.parametrize("size", [(1100, 720), (390, 780)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_on_the_screen_on_desktops_and_phones_by_day_and_night(shown, size, scheme):
    page = shown("tree", size, scheme, "#t=2.5")
    settled(page)
    assert colors(page) > 20
    for part in ("#stage canvas", "#strip", "#slider", "#play", "#panel"):
        box = page.query_selector(part).bounding_box()
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= size[0] + 1
        assert box["y"] + box["height"] <= size[1] + 1
        assert box["width"] * box["height"] > 300
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_two_schedules_share_one_clock(shown):
    page = shown("two", address="#t=2")
    settled(page)
    assert page.evaluate("explorer.painters.length") == 2
    assert len(page.query_selector_all("#stage canvas")) == 2
    page.keyboard.press("w")
    settled(page)
    assert state(page, "witness")


def test_four_thousand_nodes_are_painted(shown, pages):
    plan = gossamer.plan("torus:64x64", "broadcast")
    explore(plan, pages / "large.html")
    page = shown("large", address="#t=20.5")
    settled(page)
    assert page.evaluate("explorer.painters[0].shown") == int((plan.schedule.slot == 20).sum())
    for mode in ("past", "now", "load"):
        page.select_option("#mode", mode)
        settled(page)
        assert colors(page) > 2


def test_of_many_links_so_many_are_drawn_that_the_picture_is_not_full(shown, pages):
    explore(gossamer.plan("slim-fly:23", "broadcast"), pages / "many.html")
    page = shown("many")
    settled(page)
    drawn, near = page.evaluate("[explorer.painters[0].drawn, explorer.painters[0].near]")
    assert 100 < drawn < near / 10
    assert near == gossamer.network("slim-fly:23").link_count
    assert f"{drawn} of {near:,} links drawn" in page.inner_text(".key")
    free = page.evaluate(
        "(() => { const p = explorer.painters[0], c = p.pixels.base, e = p.pixels.color(p.paper);"
        " return c.reduce((n, x) => n + (x === e), 0) / c.length; })()"
    )
    assert free > 0.6


def test_a_simulation_shows_the_queues_of_its_nodes_and_links(shown, pages):
    network = gossamer.network("torus:4x4")
    found = record(star(network), load=0.85, settings=Settings(steps=30, warmup=40, seed=2))
    explore(found, pages / "queues.html")
    page = shown("queues", address="#t=12&mode=queue")
    settled(page)
    waiting = found.waiting(12.0)
    assert page.text_content("#waiting") == str(int(waiting.sum()))
    node = int(np.argmax(np.bincount(network.link_source, waiting)))
    page.mouse.click(*middle(page, node))
    settled(page)
    assert page.text_content("#waits") == str(int(waiting[network.link_source == node].sum()))
    link = int(np.argmax(waiting))
    ends = [int(network.link_source[link]), int(network.link_target[link])]
    page.evaluate(
        """([a, b]) => { const s = explorer.scenes[0];
        explorer.choose({ link: s.source.findIndex((v, l) => v === a && s.target[l] === b) }); }""",
        ends,
    )
    settled(page)
    assert page.text_content("#queue") == str(int(waiting[link]))
    assert page.evaluate("explorer.painters[0].shown") > 30
    page.keyboard.press("l")
    settled(page)
    assert state(page, "mode") == "load"


def test_flits_show_the_channels_that_messages_hold(shown, pages):
    found = record_traffic(gossamer.network("torus:4x4"), load=0.3, cycles=120, settings=TrafficSettings(warmup=50))
    explore(found, pages / "flits.html")
    page = shown("flits", address="#t=60.5")
    settled(page)
    now = (found.start <= 60.5) & (found.end > 60.5)
    assert page.text_content("#moving") == str(int(now.sum()))
    assert page.evaluate("explorer.painters[0].shown") == int(now.sum())
    assert "flit by flit" in page.text_content("#numbers")


def test_what_waits_in_a_schedule_is_its_buffers(shown, plans):
    page = shown("space", address="#t=3&mode=queue")
    settled(page)
    waits = page.evaluate("[...explorer.scenes[0].waiting(3)]")
    assert max(waits) <= plans["space"].facts.buffer.packets
    assert sum(waits) == page.evaluate("explorer.scenes[0].held[3]")


VIEWS = {
    "torus_day": ("torus", (1100, 720), "light", "#t=2.5"),
    "torus_link": ("torus", (1100, 720), "light", "#t=1.5&link=7&mode=past"),
    "space_night": ("space", (1100, 720), "dark", "#t=3.5&turn=0.30,0.20&mode=now"),
    "worms_message": ("worms", (1100, 720), "light", "#t=600&message=3"),
    "tree_phone": ("tree", (390, 780), "dark", "#t=6.5"),
    "two_witness": ("two", (1100, 720), "light", "#t=2.5&witness=1"),
}
GRAIN, MOST_APART = 16, 0.05


def coarse(picture):
    """Return the mean color of squares of pixels, 0 to 1: letters of another font change little of it."""
    with Image.open(io.BytesIO(picture)) as image:
        small = image.convert("RGB").resize((image.width // GRAIN, image.height // GRAIN), Image.Resampling.BOX)
        return np.asarray(small, float) / 255


@pytest.mark.parametrize("view", VIEWS)
def test_pages_look_as_they_did(shown, view):
    name, size, scheme, address = VIEWS[view]
    page = shown(name, size, scheme, address)
    settled(page)
    picture = page.screenshot()
    saved = Path(__file__).parent / "testdata" / f"{view}.png"
    seen = coarse(picture)
    known = np.asarray(Image.open(saved).convert("RGB"), float) / 255 if saved.exists() else np.zeros((0, 0, 3))
    apart = np.abs(known - seen) if known.shape == seen.shape else np.ones(1)
    if apart.mean() > MOST_APART or np.quantile(apart, 0.97) > 0.5:
        beside = saved.with_name(f"{saved.name}.new")
        Image.fromarray((255 * seen).round().astype(np.uint8)).save(beside, "PNG")
        pytest.fail(f"{view} looks otherwise, by {apart.mean():.3f} of a color: see {beside} beside {saved}")


def test_another_picture_is_noticed(shown):
    looks = []
    for address in ("#t=0.5", "#t=3.5&node=5", "#t=2.5&theme=dark"):
        page = shown("torus", (1100, 720), "light", address)
        settled(page)
        looks.append(coarse(page.screenshot()))
    saved = np.asarray(Image.open(Path(__file__).parent / "testdata" / "torus_day.png").convert("RGB"), float) / 255
    assert np.abs(looks[2] - saved).mean() > MOST_APART
    assert np.abs(looks[1] - looks[0]).mean() > 0.005


def test_a_schedule_of_many_hops_shows_its_loads_over_time(shown, pages, monkeypatch):
    plan = gossamer.plan("torus:5x5", "allgather")
    monkeypatch.setattr("gossamer.explorer.pages.MOST_ROWS", 100)
    explore(plan, pages / "counted.html")
    page = shown("counted", address="#t=3&mode=now")
    settled(page)
    assert page.text_content("#hops") == f"{plan.schedule.hop_count:,}"
    frame = page.evaluate("[...explorer.scenes[0].frame(3)]")
    assert sum(frame) == int((plan.schedule.expand().slot == 3).sum())
    page.mouse.click(*middle(page, 7))
    settled(page)
    assert page.text_content("#packets") == "24"
    page.keyboard.press("p")
    settled(page)
    assert page.evaluate("explorer.scenes[0].past(6).reduce((a, b) => a + b, 0)") == plan.schedule.hop_count
    assert colors(page) > 3
