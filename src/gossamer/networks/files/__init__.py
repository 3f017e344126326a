"""Networks in files: one file a format, one table of all."""

from gossamer.networks.files.coordinates import read_coordinates
from gossamer.networks.files.edge_list import read_edge_list, write_edge_list
from gossamer.networks.files.ibnetdiscover import read_ibnetdiscover
from gossamer.networks.files.nccl import read_nccl_topology
from gossamer.networks.files.nvidia_smi import read_nvidia_smi
from gossamer.networks.files.slurm import read_slurm_topology
from gossamer.networks.files.table import (
    FILE_FAMILIES,
    FORMATS,
    read_network,
    suffixes,
    writable_suffixes,
    write_network,
)

__all__ = [
    "FILE_FAMILIES",
    "FORMATS",
    "read_coordinates",
    "read_edge_list",
    "read_ibnetdiscover",
    "read_nccl_topology",
    "read_network",
    "read_nvidia_smi",
    "read_slurm_topology",
    "suffixes",
    "writable_suffixes",
    "write_edge_list",
    "write_network",
]
