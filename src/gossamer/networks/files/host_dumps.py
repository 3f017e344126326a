"""What tools print of one machine: ``rocm-smi --showtopo`` and the XML of ``lstopo`` (hwloc).

The matrix of ``nvidia-smi`` is in `gossamer.networks.files.nvidia_smi`, what NCCL dumps in
`gossamer.networks.files.nccl`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from os import PathLike

from gossamer.atomic_files import bandwidth_text
from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import Element, file_name, read_xml, text_lines


@dataclass
class _Machine:
    """The links found so far, their kinds that were asked for, and what was assumed."""

    name: str
    spec: str
    given: dict[str, LinkKind]
    wiring: Wiring = field(init=False)
    assumed: dict[Assumption, float] = field(default_factory=dict)  # with the rate that it is of, or 0

    def __post_init__(self) -> None:
        self.wiring = Wiring(self.name)

    def kind(self, of: str, rate: float, text: str) -> LinkKind:
        """Return the kind of links that was asked for, else that of a rate, which is assumed in words."""
        asked = self.given[of]
        if asked.bandwidth is not None:
            return asked
        told = f"{text} of {bandwidth_text(rate)} each way"
        self.assumed[Assumption(told, f"{self.spec},{of}=RATE")] = rate
        return LinkKind(rate, asked.latency)

    def network(self, terminals: list[str], switches: list[str], labels: list[str]) -> Network:
        """Return the network, with what was assumed of links that it has."""
        used = {0.0, *(kind.bandwidth for (_, _, kind), _ in self.wiring.links())}
        assumed = tuple(each for each, rate in self.assumed.items() if rate in used)
        known = [Assumptions(assumed)] if assumed else []
        return self.wiring.network(self.spec, [*terminals, *switches], len(terminals), labels, known)


def _machine(name: str, spec: str, latency: str | None, **rates: str | None) -> _Machine:
    kinds = {
        of: attributed(f"{name}: {of}", {"bandwidth": rate, "latency": latency}, FileFormatError)[1]
        for of, rate in rates.items()
    }
    return _Machine(name, spec, kinds)


# rocm-smi --showtopo

_TABLES = {"weight between two gpus": "weight", "hops between two gpus": "hops", "link type between two gpus": "type"}
_NUMA = re.compile(r"GPU\[([0-9]{1,4})\]\s*:\s*\(Topology\) Numa (Node|Affinity):\s*(-?[0-9]{1,4})")
_XGMI = (
    (r"MI3[05]0[AX]|MI325X", "MI300X", 64e9),
    (r"MI35[05]X", "MI350X", 76.8e9),
    (r"MI2[15]0X?|MI250", "MI250X", 50e9),
    (r"MI100|MI[56]0", "MI100", 46e9),
)
"""How texts name GPUs, their name, and bytes a second of one xGMI link each way, from their data sheets."""
_HOP = 15
"""The weight of one xGMI link: the driver tells 15 times the hops."""
_LANES = 31.5e9


def read_rocm_smi(
    path: str | PathLike[str], *, xgmi: str | None = None, pcie: str | None = None, latency: str | None = None
) -> Network:
    r"""Read the GPUs of a server from the text that ``rocm-smi --showtopo`` prints.

    Parameters
    ----------
    path : path
        The text, with at least the table of link types.
    xgmi : str, optional
        Bandwidth of one xGMI link, each way, such as ``64GB/s``. Default: that of the GPUs that the text names, as
        ``rocm-smi --showproductname`` prints them; else of an MI300X (64 GB/s) if a GPU has 7 neighbors, of an MI250X
        (50 GB/s) if it has fewer.
    pcie : str, optional
        Bandwidth of a PCI Express connection, each way. Default: that of 16 lanes of generation 4, 31.5 GB/s.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

    Returns
    -------
    Network
        The GPUs are the terminals, with their names as labels. Two GPUs are joined by a link where their type is
        ``XGMI`` and their weight at most 15, or, without weights, their hops are 1. If these do not join all GPUs, PCI
        Express does: those of a NUMA node are joined by a switch, and these by another one.

    Raises
    ------
    FileFormatError
        If the text has no table of link types, or (with the line number) a row is malformed or contradicts another.
    """
    name = f"rocm-smi tables {file_name(path)}"
    machine = _machine(name, f"rocm-smi:{path}", latency, xgmi=xgmi, pcie=pcie)
    tables, numa, gpus, model = _rocm_tables(path, name)
    near = _neighbors(tables, gpus, name)
    if near:
        most = max(sum(gpu in pair for pair in near) for gpu in gpus)
        found = _XGMI[model] if model is not None else _XGMI[0 if most >= 7 else 2]
        why = "which the file names" if model is not None else f"as there are {most} neighbors"
        kind = machine.kind("xgmi", found[2], f"xGMI links of an {found[1]}, {why},")
        text = "one xGMI link between two GPUs that are neighbors: the file does not count them"
        machine.assumed[
            Assumption(text, "write it as .edges with 'gossamer network FILE -o FILE.edges', and edit that")
        ] = 0
        for a, b in near:
            machine.wiring.add(tables["type"][a, b][1], a, b, 1, kind)
    switches: list[str] = []
    if len(_groups(gpus, near)) > 1:
        switches = _by_numa(machine, gpus, numa)
    return machine.network(gpus, switches, [*gpus, *switches])


Cells = dict[tuple[str, str], tuple[str, str]]


def _rocm_tables(
    path: str | PathLike[str], name: str
) -> tuple[dict[str, Cells], dict[str, str], list[str], int | None]:
    """Return the cells of each table with their places, the NUMA node of GPUs, the GPUs, and which model they are."""
    tables: dict[str, Cells] = {}
    numa: dict[str, str] = {}
    columns: list[str] = []
    gpus: list[str] = []
    table, models = "", set()
    for place, line in text_lines(path, "the text of rocm-smi --showtopo", comment="", pieces={b"\n": 400}):
        where = f"{name}, line {place}"
        if "Card" in line or "Instinct" in line:
            models |= {i for i, model in enumerate(_XGMI) if re.search(rf"\b(?:{model[0]})\b", line)}
        title = line.strip("= ").lower()
        if line.startswith("=") or title in _TABLES:
            if title.endswith("between two gpus") and title not in _TABLES:
                raise FileFormatError(
                    f"{where}: the table {shown(line.strip('= '))} is none of: Weight, Hops or Link "
                    "Type between two GPUs"
                )
            table, columns = _TABLES.get(title, ""), []
            if table in tables:
                raise FileFormatError(f"{where}: there is a second table {shown(title)}")
            if table:
                tables[table] = {}
        elif "(Topology) Numa" in line and not _NUMA.fullmatch(line):
            raise FileFormatError(
                f"{where}: expected a line such as 'GPU[0] : (Topology) Numa Node: 0', got {shown(line)}"
            )
        elif match := _NUMA.fullmatch(line):
            if match[2] == "Node":
                numa[f"GPU{match[1]}"] = match[3]
        elif table and not columns:
            columns = line.split()
            if not all(re.fullmatch("GPU[0-9]{1,4}", c) for c in columns) or len(set(columns)) < len(columns):
                raise FileFormatError(f"{where}: expected the names of GPUs, each once, got {shown(line)}")
            if gpus and columns != gpus:
                raise FileFormatError(f"{where}: the GPUs are not those of the first table")
            gpus = columns
        elif table:
            _rocm_row(tables[table], table, gpus, line.split(), where)
    if "type" not in tables:
        raise FileFormatError(f"{name}: there is no table 'Link Type between two GPUs'")
    for table, cells in tables.items():
        for gpu in gpus:
            if (gpu, gpu) not in cells:
                raise FileFormatError(f"{name}: the row of {gpu} is missing in the table of the {table} between GPUs")
    return tables, numa, gpus, models.pop() if len(models) == 1 else None


def _rocm_row(cells: Cells, table: str, gpus: list[str], words: list[str], where: str) -> None:
    if words[0] not in gpus:
        raise FileFormatError(f"{where}: {shown(words[0])} is none of the GPUs of the table")
    if (words[0], words[0]) in cells:
        raise FileFormatError(f"{where}: there is a second row of {words[0]}")
    if len(words) - 1 != len(gpus):
        raise FileFormatError(f"{where}: {len(words) - 1} entries are given for {len(gpus)} GPUs")
    for other, word in zip(gpus, words[1:], strict=True):
        told, allowed = ("XGMI or PCIE", "XGMI|PCIE") if table == "type" else ("a whole number", "[0-9]{1,6}")
        if other == words[0]:
            told, allowed = "0", "0"
        if not re.fullmatch(allowed, word):
            raise FileFormatError(f"{where}: {words[0]} to {other} must be {told}, got {shown(word)}")
        cells[words[0], other] = (word, where)
        back = cells.get((other, words[0]))
        if back is not None and back[0] != word:
            raise FileFormatError(f"{where}: {words[0]} to {other} is {word}, but {other} to {words[0]} is {back[0]}")


def _neighbors(tables: dict[str, Cells], gpus: list[str], name: str) -> list[tuple[str, str]]:
    """Return the pairs of GPUs that one xGMI link joins."""
    by = "weight" if "weight" in tables else "hops"
    pairs = [pair for pair in itertools.combinations(gpus, 2) if tables["type"][pair][0] == "XGMI"]
    if pairs and by not in tables:
        raise FileFormatError(f"{name}: neither weights nor hops tell which GPUs are neighbors")
    most = _HOP if by == "weight" else 1
    return [pair for pair in pairs if 0 < int(tables[by][pair][0]) <= most]


def _groups(nodes: list[str], pairs: list[tuple[str, str]]) -> set[str]:
    """Return a node of each group that pairs join."""
    group = {node: node for node in nodes}
    for a, b in pairs:
        if group[a] != group[b]:
            old = group[b]
            group = {node: group[a] if of == old else of for node, of in group.items()}
    return set(group.values())


def _by_numa(machine: _Machine, gpus: list[str], numa: dict[str, str]) -> list[str]:
    """Join GPUs by PCI Express, those of a NUMA node at a switch; return the switches."""
    kind = machine.kind("pcie", _LANES, "PCI Express, 16 lanes of generation 4,")
    nodes = list(dict.fromkeys(numa.get(gpu, "0") for gpu in gpus))
    for gpu in gpus:
        machine.wiring.add(machine.name, gpu, f"NUMA node {numa.get(gpu, '0')}", 1, kind)
    switches = [f"NUMA node {each}" for each in nodes]
    if len(switches) > 1:
        for each in switches:
            machine.wiring.add(machine.name, each, "CPUs", 1, kind)
        switches.append("CPUs")
    return switches


# lstopo

_CPUS = 10e9
_MACHINE = "machine"
_GPU_CLASS = re.compile("03(?!00)..|12..")
"""Classes of PCI: 3-D controllers and displays but for VGA, and processing accelerators."""
_GPU_NAME = re.compile(r"(?:cuda|nvml|rsmi|ze|opencl)[0-9].*")
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_TYPES = (
    "Machine", "Package", "Die", "Core", "PU", "L1Cache", "L2Cache", "L3Cache", "L4Cache", "L5Cache", "L1iCache",
    "L2iCache", "L3iCache", "Group", "NUMANode", "MemCache", "Bridge", "PCIDev", "OSDev", "Misc",
)  # fmt: skip
"""Types of objects that hwloc has."""


@dataclass
class _Tree:
    """What the objects of a machine are, as far as they have been looked at."""

    machine: _Machine
    gpus: dict[str, list[str]] = field(default_factory=dict)  # names by bus
    switches: dict[str, None] = field(default_factory=dict)
    cpus: list[str] = field(default_factory=list)
    by_index: dict[str, str] = field(default_factory=dict)  # bus of a device of the system by its gp_index
    others: dict[str, str] = field(default_factory=dict)  # names of PCI devices that are no GPUs, by theirs

    def where(self, element: Element) -> str:
        return f"{self.machine.name}, line {element.line}"


def read_lstopo(
    path: str | PathLike[str], *, pcie: str | None = None, cpus: str | None = None, latency: str | None = None
) -> Network:
    """Read the GPUs of a machine from the XML that ``lstopo`` writes (hwloc 2 and 3).

    Parameters
    ----------
    path : path
        What ``lstopo --whole-io machine.xml`` writes.
    pcie : str, optional
        Bandwidth of a PCI Express connection of which the file tells none, each way, such as ``32GB/s``. Default: that
        of 16 lanes of generation 4, 31.5 GB/s.
    cpus : str, optional
        Bandwidth between two packages, each way. Default: 10 GB/s.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

    Returns
    -------
    Network
        The GPUs are the terminals, in the order of the file: PCI devices that are accelerators by their class, or have
        a device such as ``cuda0``, ``nvml0`` or ``rsmi0``, of which they have the label. Bridges and packages are
        switches; packages are joined with each other. Links have the speeds ``pci_link_speed``; where the file has a
        matrix ``NVLinkBandwidth`` or ``XGMIBandwidth``, GPUs are joined by links of these speeds too. Bridges that
        lead to no second GPU are left out.

    Raises
    ------
    FileFormatError
        If the file is no such XML, has no GPU, or (with the line number) an object is malformed.
    """
    name = f"lstopo file {file_name(path)}"
    root = read_xml(path, "lstopo file")
    if root.name != "topology":
        raise FileFormatError(
            f"{name}, line {root.line}: the outermost element must be 'topology', got {shown(root.name)}"
        )
    if root.attributes.get("version", "").split(".")[0] not in ("2", "3"):
        raise FileFormatError(f"{name}, line {root.line}: version must be 2 or 3 of the format, "
                              f"got {shown(root.attributes.get('version', 'none'))}")  # fmt: skip
    tree = _Tree(_machine(name, f"lstopo:{path}", latency, pcie=pcie, cpus=cpus))
    for element in root.all("object"):
        _object(tree, element, "", "")
    if not tree.gpus:
        raise FileFormatError(f"{name}: there is no GPU among its PCI devices; lstopo --whole-io writes all of them")
    used = [place for place in (*tree.cpus, _MACHINE) if place in tree.switches]
    if len(used) > 1:
        between = tree.machine.kind("cpus", _CPUS, "links between packages, which the file does not tell,")
        for one, other in itertools.combinations(used, 2):
            tree.machine.wiring.add(name, one, other, 1, between)
    for element in root.inner:
        if element.name.startswith("distances2") and element.attributes.get("name") in _MATRICES:
            _matrix(tree, element)
    labels = {bus: min(names, key=_preference, default=bus) for bus, names in tree.gpus.items()}
    if len(set(labels.values())) < len(labels):
        labels = {bus: bus for bus in labels}
    return _without_ends(tree, labels)


def _preference(name: str) -> tuple[int, str]:
    order = ("cuda", "rsmi", "nvml", "ze", "opencl")
    return next((i for i, word in enumerate(order) if name.startswith(word)), len(order)), name


def _object(tree: _Tree, element: Element, above: str, cpu: str) -> None:
    """Take an object and those in it: `above` is the bridge, package or machine that it is connected to."""
    kind = element.attributes.get("type")
    if kind is None:
        raise FileFormatError(f"{tree.where(element)}: 'object' has no attribute 'type'")
    if kind not in _TYPES:
        known = nearest(kind, _TYPES) or f"; there are: {', '.join(_TYPES)}"
        raise FileFormatError(f"{tree.where(element)}: hwloc has no object of type {shown(kind)}{known}")
    if kind == "Package":
        above = cpu = f"CPU{element.attributes.get('os_index', len(tree.cpus))}"
        if cpu in tree.cpus:
            raise FileFormatError(f"{tree.where(element)}: package {cpu} is there twice")
        tree.cpus.append(cpu)
    elif kind == "Machine":
        above = _MACHINE
    elif kind in ("Bridge", "PCIDev"):
        above = _pci_object(tree, element, kind, above or _MACHINE)
    elif kind == "OSDev" and above in tree.gpus:
        system = element.attributes.get("name", "")
        if _GPU_NAME.fullmatch(system):
            tree.gpus[above].append(system)
        if "gp_index" in element.attributes:
            tree.by_index[element.attributes["gp_index"]] = above
    for inner in element.all("object"):
        _object(tree, inner, above, cpu)


def _pci_object(tree: _Tree, element: Element, kind: str, above: str) -> str:
    """Take a bridge or a device of PCI, and return what stands for it: a host bridge is what it is in."""
    if kind == "Bridge" and element.attributes.get("bridge_type", "").startswith("0-"):
        return above
    bus = element.attributes.get("pci_busid", "").lower()
    if not re.fullmatch("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-9a-f]", bus):
        raise FileFormatError(f"{tree.where(element)}: pci_busid must be such as 0000:3b:00.0, got {shown(bus)}")
    if bus in tree.switches or bus in tree.gpus:
        raise FileFormatError(f"{tree.where(element)}: pci_busid {bus} is there twice")
    if kind == "PCIDev":
        systems = [each.attributes.get("name", "") for each in element.all("object")]
        accelerates = _GPU_CLASS.match(element.attributes.get("pci_type", ""))
        if not accelerates and not any(map(_GPU_NAME.fullmatch, systems)):
            if "gp_index" in element.attributes:
                tree.others[element.attributes["gp_index"]] = f"NVSwitch {bus}"
            return ""
        tree.gpus[bus] = []
    else:
        tree.switches[bus] = None
    tree.machine.wiring.add(tree.where(element), bus, above, 1, _pci_kind(tree, element))
    if above not in tree.switches:
        tree.switches[above] = None
    return bus


def _pci_kind(tree: _Tree, element: Element) -> LinkKind:
    speed = element.attributes.get("pci_link_speed", "0")
    if not re.fullmatch(r"[0-9]{1,5}(?:\.[0-9]{1,9})?", speed):
        raise FileFormatError(f"{tree.where(element)}: pci_link_speed must be a number of GB/s, got {shown(speed)}")
    if float(speed):
        return LinkKind(float(speed) * 1e9, tree.machine.given["pcie"].latency)
    return tree.machine.kind("pcie", _LANES, "PCI Express whose speed is not told, 16 lanes of generation 4,")


def _matrix(tree: _Tree, element: Element) -> None:
    """Add the links of a matrix of bandwidths between devices, in MB/s, a row for each."""
    where = tree.where(element)
    indexes = " ".join(each.text for each in element.all("indexes")).split()
    values = " ".join(each.text for each in element.all("u64values")).split()
    places = [word.rpartition(":")[2] for word in indexes]
    if len(values) != len(places) ** 2 or not all(re.fullmatch("[0-9]{1,9}", each) for each in (*places, *values)):
        told = f"{len(values)} values of {len(places)} objects"
        raise FileFormatError(f"{where}: a matrix of bandwidths has a whole number for every two objects, got {told}")
    ends = []
    for place in places:
        end = tree.by_index.get(place) or tree.others.get(place)
        if end is None:
            raise FileFormatError(f"{where}: object {place} of the matrix is no device of a GPU, and no switch")
        ends.append(end)
    for i, j in itertools.permutations(range(len(places)), 2):
        rate, way = int(values[i * len(places) + j]), (ends[i], ends[j])
        if rate and ends[i] != ends[j]:
            kind = LinkKind(rate * 1e6, tree.machine.given["pcie"].latency)
            tree.machine.wiring.add(where, *way, 1, kind, one_way=True)
            tree.switches |= {end: None for end in way if end not in tree.gpus}


def _without_ends(tree: _Tree, labels: dict[str, str]) -> Network:
    """Return the network without bridges that lead to one GPU or nothing, of which the slowest link stays."""
    links = dict(tree.machine.wiring.links())
    switches = dict(tree.switches)
    while True:
        near: dict[str, list[tuple[str, LinkKind]]] = {name: [] for name in switches}
        for u, v, kind in links:
            if u in near:
                near[str(u)].append((str(v), kind))
        ends = next((name for name, others in near.items() if len(others) <= 2), None)
        if ends is None:
            break
        del switches[ends]
        links = {key: c for key, c in links.items() if ends not in key[:2]}
        if len(near[ends]) == 2 and near[ends][0][0] != near[ends][1][0]:
            (one, first), (other, second) = near[ends]
            slow = min(first, second, key=lambda kind: kind.bandwidth or 0)
            for pair in ((one, other), (other, one)):
                links[*pair, slow] = links.get((*pair, slow), 0) + 1
    kept = Wiring(tree.machine.name)
    for (u, v, kind), capacity in links.items():
        kept.add(tree.machine.name, u, v, capacity, kind, one_way=True)
    tree.machine.wiring = kept
    names = [labels.get(node, node) for node in (*tree.gpus, *switches)]
    return tree.machine.network(list(tree.gpus), list(switches), names)


ROCM_SMI = NetworkFormat(
    name="rocm-smi",
    summary="GPUs of a server, from the text that rocm-smi --showtopo prints",
    source="gossamer.networks.read_rocm_smi",
    read=lambda path, words=None: read_rocm_smi(path, **(words or {})),
    recognizes=lambda text: bool(
        re.search(
            r"^=*\s*(?:ROCm System Management Interface|(?:Weight|Hops|Link Type) between "
            r"two GPUs)\s*=*\s*$",
            text,
            re.MULTILINE,
        )
    ),
    form=path_and("xgmi", "pcie", "latency"),
    parameters="PATH[,xgmi=64GB/s][,pcie=32GB/s][,latency=1us]",
)
LSTOPO = NetworkFormat(
    name="lstopo",
    summary="GPUs of a machine, from the XML that lstopo (hwloc) writes",
    source="gossamer.networks.read_lstopo",
    suffixes=(".xml",),
    read=lambda path, words=None: read_lstopo(path, **(words or {})),
    recognizes=lambda text: bool(re.search(r"(?m)^\s*(?:<[?!][^>]*>\s*)*<topology[\s>]", text)),
    form=path_and("pcie", "cpus", "latency"),
    parameters="PATH[,pcie=32GB/s][,cpus=10GB/s][,latency=1us]",
)
