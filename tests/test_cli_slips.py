"""Slips of people who type commands: each gets one line that names the fault, and a proposal that works."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from gossamer.cli import main

FILES = (
    "plan ring:4 allgather -o plan.parquet",
    "plan net.edges allgather -o cluster.parquet",
    "export plan.parquet --to msccl-xml -o plan.xml",
)
"""What makes the files that lie in the folder."""
EXAMPLES = Path(__file__).parents[1] / "examples" / "machines"
_TEXT = 200
"""Characters that may say what is wrong and what is allowed."""

SLIPS = """
plan torus8x8 allgather                                   > plan torus:8x8 allgather
plan 8x8 allgather                                        > plan torus:8x8 allgather
plan 4x4x4 alltoall                                       > plan torus:4x4x4 alltoall
plan 8 allgather                                          > plan ring:8 allgather
plan torus-8x8 allgather                                  > plan torus:8x8 allgather
plan torus_8x8 allgather                                  > plan torus:8x8 allgather
plan 'torus 8x8' allgather                                > plan torus:8x8 allgather
plan 'torus(8,8)' allgather                               > plan torus:8,8 allgather
plan tours:8x8 allgather                                  > plan torus:8x8 allgather
plan torrus:8x8 allgather                                 > plan torus:8x8 allgather
plan torus allgather                                      > plan torus:8x8 allgather
plan torus: allgather                                     > plan torus:8x8 allgather
plan torus:8xx8 allgather                                 > plan torus:8x8 allgather
plan torus:8x8, allgather                                 > plan torus:8x8 allgather
plan torus:8x allgather                                   > plan torus:8 allgather
plan torus:axb allgather                                  > plan torus:8x8 allgather
plan torus:0x8 allgather                                  > plan torus:8x8 allgather
plan torus:-8x8 allgather                                 > plan torus:8x8 allgather
plan 2d-torus:4x4 allgather                               > plan torus:4x4 allgather
plan torus3d:4x4x4 allgather                              > plan torus:4x4x4 allgather
plan torus8x8 algather                                    > plan torus:8x8 allgather
plan ring8 allgather                                      > plan ring:8 allgather
plan ring allgather                                       > plan ring:8 allgather
plan ring:4x4 allgather                                   > plan torus:4x4 allgather
plan ring:2.5 allgather
plan ring:eight allgather                                 > plan ring:8 allgather
plan cycle:8 allgather                                    > plan ring:8 allgather
plan hypercube4 allgather                                 > plan hypercube:4 allgather
plan hypercube:16x allgather
plan hypercube allgather                                  > plan hypercube:4 allgather
plan cube:3 allgather                                     > plan hypercube:3 allgather
plan mesh4x4 allgather                                    > plan array:4x4 allgather
plan grid:4x4 allgather                                   > plan array:4x4 allgather
plan line:8 allgather                                     > plan array:8 allgather
plan linear:8 allgather                                   > plan array:8 allgather
plan chain:8 allgather                                    > plan array:8 allgather
plan path:8 allgather                                     > plan array:8 allgather
plan fattree:4 allgather                                  > plan folded-clos:4,3 allgather
plan fat-tree:4 allgather                                 > plan folded-clos:4,3 allgather
plan fat_tree:4 allgather                                 > plan folded-clos:4,3 allgather
plan k-ary-fat-tree:4 allgather                           > plan folded-clos:4,3 allgather
plan clos:4 allgather                                     > plan folded-clos:4,3 allgather
plan folded-clos:4 allgather                              > plan folded-clos:4,3 allgather
plan leafspine:4,2 allgather                              > plan leaf-spine:4,2,4 allgather
plan spine-leaf:4,2,4 allgather                           > plan leaf-spine:4,2,4 allgather
plan leaf-spine:4,2 broadcast                             > plan leaf-spine:4,2,4 broadcast
plan dragonfly:4 broadcast                                > plan dragonfly:4,2,2 broadcast
plan full-mesh:8 allgather                                > plan complete:8 allgather
plan fully-connected:8 allgather                          > plan complete:8 allgather
plan clique:8 allgather                                   > plan complete:8 allgather
plan star4 allgather                                      > plan star:4 allgather
plan slimfly:5 broadcast                                  > plan slim-fly:5 broadcast
plan kautz allgather                                      > plan kautz:2,4 allgather
plan pancakes:4 allgather                                 > plan pancake:4 allgather
plan nowhere:3 allgather
plan ring:8                                               > plan ring:8 allgather
plan allgather                                            > plan torus:8x8 allgather
plan
plan ring:8 allgahter                                     > plan ring:8 allgather
plan ring:8 algather                                      > plan ring:8 allgather
plan ring:8 allgathr --json                               > plan ring:8 allgather --json
plan ring:8 allreduc                                      > plan ring:8 allreduce
plan ring:8 all2all                                       > plan ring:8 alltoall
plan ring:8 a2a                                           > plan ring:8 alltoall
plan ring:8 broadcst                                      > plan ring:8 broadcast
plan ring:8 reduce_scater                                 > plan ring:8 reduce-scatter
plan ring:8 MPI_Bcats                                     > plan ring:8 bcast
plan ring:8 MPI_Barrier                                   > plan ring:8 allreduce
plan ring:8 MPI_Scan                                      > list tasks
plan ring:8 MPI_Sendrecv                                  > plan ring:8 permutation --pattern neighbor
plan ring:8 ncclSendRecv                                  > plan ring:8 permutation --pattern neighbor
plan ring:8 sendrecv                                      > plan ring:8 permutation --pattern neighbor
plan ring:8 send                                          > plan ring:8 permutation --pattern neighbor
plan ring:8 p2p                                           > plan ring:8 permutation --pattern neighbor
plan ring:8 nobody-to-nobody
plan ring:8 allgatherv                                    > plan ring:8 allgatherv --counts 1,1,1,1,1,1,1,1
plan ring:8 multiple-broadcast --counts 1,2               > plan ring:8 multiple-broadcast --counts 1,1,1,1,1,1,1,1
plan ring:8 partial-exchange                              > plan ring:8 partial-exchange --active all
plan ring:8 permutation                                   > plan ring:8 permutation --pattern random
plan ring:16 permutation --pattern tranpose               > plan ring:16 permutation --pattern transpose
plan ring:8 demands                                       > plan ring:8 demands --traffic uniform
plan ring:4 alltoallv                                     > plan ring:4 alltoallv --traffic uniform
plan ring:8 broadcast --root 9                            > plan ring:8 broadcast --root 7
plan ring:8 broadcast --root x                            > plan ring:8 broadcast --root 0
plan ring:8 broadcast --root -1                           > plan ring:8 broadcast --root 0
plan ring:8 allgather --root 0                            > plan ring:8 allgather
plan ring:8 allgather extra                               > plan ring:8 allgather
plan ring:8 allgather --bytes 1 MiB --bandwidth 50GB/s    > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --size 1MiB                         > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --msg-size 1MiB                     > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --message-size=1MiB                 > plan ring:8 allgather --bytes=1MiB --bandwidth 50GB/s
plan ring:8 allgather -b 1MiB                             > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --bytes 1MB --bw 50GB/s             > plan ring:8 allgather --bytes 1MB --bandwidth 50GB/s
plan ring:8 allgather --quiet                             > plan ring:8 allgather
plan ring:8 allgather -q                                  > plan ring:8 allgather
plan ring:8 allgather --silent --json                     > plan ring:8 allgather --json
plan ring:8 allgather --out x.parquet                     > plan ring:8 allgather --output x.parquet
plan ring:8 allgather --file x.parquet                    > plan ring:8 allgather --output x.parquet
plan ring:8 allgather --save x.parquet                    > plan ring:8 allgather --output x.parquet
plan ring:8 allgather --format json                       > plan ring:8 allgather --json
plan ring:4 allgather --plot x.svg                        > plan ring:4 allgather --output x.svg
plan ring:8 allgather --algo multi-ring                   > plan ring:8 allgather --algorithm multi-ring
plan ring:8 allgather --aglorithm best                    > plan ring:8 allgather --algorithm best
plan ring:8 allgather --nodes 8                           > plan ring:8 allgather
plan ring:8 allgather --ranks 8                           > plan ring:8 allgather
plan ring:8 allgather --timeout 5                         > plan ring:8 allgather --budget 5
plan ring:8 allgather --time-limit 5                      > plan ring:8 allgather --budget 5
plan ring:8 allgather --threads 2                         > plan ring:8 allgather --jobs 2
plan ring:8 allgather -j 2                                > plan ring:8 allgather --jobs 2
plan ring:8 allgather --fail links:0-1                    > plan ring:8 allgather --without links:0-1
plan ring:8 allgather --broken nodes:3                    > plan ring:8 allgather --without nodes:3
plan ring:8 allgather --chunk 4                           > plan ring:8 allgather --chunks 4
plan ring:8 allgather --nchunks 4                         > plan ring:8 allgather --chunks 4
plan ring:8 broadcast --source 2                          > plan ring:8 broadcast --root 2
plan ring:8 allgather --verify                            > plan ring:8 allgather
plan ring:8 allgather --one-port                          > plan ring:8 allgather --ports one-port
plan ring:8 allgather --all-port                          > plan ring:8 allgather --ports all-port
plan ring:8 allgather --optimal                           > plan ring:8 allgather --effort solver
plan ring:8 allgather --no-such-thing 3                   > plan ring:8 allgather
plan --network ring:8 --task allgather                    > plan ring:8 allgather
plan --topology ring:8 --collective allgather             > plan ring:8 allgather
plan ring:8 allgather --ports two                         > plan ring:8 allgather --ports all-port
plan ring:8 allgather --ports ome-port                    > plan ring:8 allgather --ports one-port
plan ring:8 allgather --chunks 0                          > plan ring:8 allgather --chunks 1
plan ring:8 allgather --chunks x                          > plan ring:8 allgather --chunks 1
plan ring:8 allgather --seed x
plan ring:6 broadcast --algorithm scatter-allgather > plan ring:6 broadcast --algorithm scatter-allgather --chunks 6
plan torus:4x4 allgather --algorithm atd-opt > plan torus:4x4 allgather --algorithm atd-opt --switching wormhole
plan ring:7 allreduce --algorithm bine                    > list algorithms ring:7 --task allreduce
plan ring:8 allreduce --algorithm nccl                    > list algorithms ring:8 --task allreduce
plan ring:8 allgather --algorithm greedy-floding          > plan ring:8 allgather --algorithm greedy-flooding
plan star:4 allgather --algorithm hypercube-only          > list algorithms star:4 --task allgather
plan ring:8 allgather --effort high                       > plan ring:8 allgather --effort solver
plan ring:8 allgather --effort fast                       > plan ring:8 allgather --effort 'closed form'
plan ring:8 allgather --switching store_and_forward       > plan ring:8 allgather --switching store-and-forward
plan ring:8 allgather --switching cut-through             > plan ring:8 allgather --switching store-and-forward
plan ring:8 allgather --bytes 1Q
plan ring:8 allgather --bytes -1
plan ring:8 allgather --bytes 1MiB                        > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --bytes 1MiB --bandwidth 50furlongs > plan ring:8 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:8 allgather --bytes 1MiB --bandwidth 5GB/s --latency 2parsecs
plan ring:8 allgather --hop-time 1                        > plan ring:8 allgather --hop-time 1 --switching wormhole
plan ring:8 allgather -o plan.csv                         > plan ring:8 allgather -o plan.parquet
plan ring:8 allgather -o plan                             > plan ring:8 allgather -o plan.parquet
plan ring:8 allgather -o my.xml   > plan ring:8 allgather -o my.parquet && export my.parquet --to msccl-xml -o my.xml
plan ring:8 allgather -o my.json  > plan ring:8 allgather -o my.parquet && export my.parquet --to json -o my.json
plan ring:8 allgather -o nowhere/x.parquet                > plan ring:8 allgather -o x.parquet
plan ring:8 allgather --output                            > plan ring:8 allgather
plan ring:8 allgather --groups 0-9                        > plan ring:8 allgather --groups 0-7
plan ring:8 allgather --without links:0-3
plan ring:8 allgather --without everything
plan nowhere.edges allgather
plan ne.edges allgather                                   > plan net.edges allgather
plan plan.parquet allgather                               > verify plan.parquet
plan plan.xml allgather                                   > verify plan.xml --network complete:4
network plan.parquet                                      > verify plan.parquet
network torus8x8                                          > network torus:8x8
network
compare ring8 alltoall                                    > compare ring:8 alltoall
compare ring:5 altoall                                    > compare ring:5 alltoall
bounds ring:5                                             > bounds ring:5 allgather
bounds torus8x8 alltoal                                   > bounds torus:8x8 alltoall
faults ring5 allgather                                    > faults ring:5 allgather
demands ring:4 alltoall -o x.gif                          > demands ring:4 alltoall -o x.parquet
demands ring4 alltoall                                    > demands ring:4 alltoall
deadlock ring8                                            > deadlock ring:8
verify net.edges                                          > network net.edges
verify ring:8                                             > plan ring:8 allgather -o plan.parquet
verify nothing.parquet                                    > plan torus:8x8 allgather -o nothing.parquet
verify plan.parqet                                        > verify plan.parquet
verify plan.xml                                           > verify plan.xml --network complete:4
verify
verify plan.parquet --network ring4                       > verify plan.parquet
draw net.edges                                            > network net.edges
draw ring:8                                               > network ring:8 -o network.svg
draw plan.parqet -o x.svg                                 > draw plan.parquet -o x.svg
draw plan.parquet -o x.bmp                                > draw plan.parquet -o x.svg
draw plan.parquet --kind timetables -o x.svg              > draw plan.parquet --kind timetable -o x.svg
draw plan.parquet --kind heatmap -o x.svg                 > draw plan.parquet --kind heat -o x.svg
draw plan.parquet --kind gantt -o x.svg                   > draw plan.parquet --kind timetable -o x.svg
draw timetable                                            > draw plan.parquet --kind timetable -o timetable.svg
draw plan.parquet timetable                               > draw plan.parquet
explain net.edges                                         > network net.edges
explain ring:8                                            > plan ring:8 allgather -o plan.parquet
explain none.parquet                                      > plan torus:8x8 allgather -o none.parquet
explain plan.parquet --slot 99                            > explain plan.parquet --slot 1
explore plan.parquet                                      > explore plan.parquet -o page.html
explore plan.parquet -o x.svg                             > explore plan.parquet -o x.html
run none.parquet                                          > plan torus:8x8 allgather -o none.parquet
export plan.parquet
export plan.parquet -o y.xml                              > export plan.parquet -o y.xml --to msccl-xml
export plan.parquet --to xml -o y.xml                     > export plan.parquet --to msccl-xml -o y.xml
export plan.parquet --to nccl -o y.xml                    > export plan.parquet --to msccl-xml -o y.xml
export plan.parquet --to msccl -o y.xml                   > export plan.parquet --to msccl-xml -o y.xml
export plan.parquet --to mpi -o y                         > export plan.parquet --to c -o y
export plan.parquet --to simgrid -o z                     > export plan.parquet --to smpi -o z
export plan.parquet --to perfeto -o y.json                > export plan.parquet --to perfetto -o y.json
import plan.xml                                           > import plan.xml --network complete:4 -o back.parquet
import plan.xml --network torus8x8 -o b.parquet           > import plan.xml --network complete:4 -o b.parquet
import plan.xml --network ring:4                          > import plan.xml --network ring:4 -o back.parquet
replan plan.parquet                                       > replan plan.parquet --without links:0-1
replan plan.parquet --without a0-A                        > replan plan.parquet --without random-links:1
replan plan.parquet --fail links:0-1                      > replan plan.parquet --without links:0-1
replan none.parquet --without links:0-1                   > plan torus:8x8 allgather -o none.parquet
simulate ring:8                                           > simulate traffic ring:8 --load 0.1
simulate none.parquet                                     > plan torus:8x8 allgather -o none.parquet
simulate traffic ring8 --load 0.1                         > simulate traffic ring:8 --load 0.1
simulate traffic ring:4 --load 2x                         > simulate traffic ring:4 --load 0.5
simulate trafic ring:4 --load 0.1                         > simulate traffic ring:4 --load 0.1
simulate arrivals hypercube:3                             > simulate arrivals hypercube:3 --load 0.5
simulate plan.parquet --model flits                       > simulate plan.parquet --model loggp
list
list algorithm                                            > list algorithms
list algos                                                > list algorithms
list topologies                                           > list networks
list collectives                                          > list tasks
list networks torus:8x8                                   > list networks
list algorithms torus4x4                                  > list algorithms torus:4x4
list algorithms torus:4x4 --task algather                 > list algorithms torus:4x4 --task allgather
paln ring:8 allgather                                     > plan ring:8 allgather
schedule ring:8 allgather                                 > plan ring:8 allgather
synthesize ring8 allgather                                > plan ring:8 allgather
check plan.parquet                                        > verify plan.parquet
show plan.parquet                                         > explain plan.parquet
plot plan.parquet                                         > draw plan.parquet
view plan.parquet                                         > draw plan.parquet
convert plan.parquet                                      > export -h
info ring:8                                               > network ring:8
topo ring8                                                > network ring:8
zzzz                                                      > -h
--verison                                                 > -h
sweep nothing.toml                                        > sweep run -h
sweep report none.parquet                                 > sweep report -h
reproduce everything                                      > reproduce -h
doctor --fix                                              > doctor
plan net.edge allgather                                   > plan net.edges allgather
network net.edgs                                          > network net.edges
plan ring:8 allgather --algo ring                         > plan ring:8 allgather --algorithm ring
plan ring:8 allgather --algos tree                        > plan ring:8 allgather --algorithm tree
plan ring:8 allgather --method bruck                      > plan ring:8 allgather --algorithm bruck
plan ring:8 allgather -minbytes 1M                        > plan ring:8 allgather --bytes 1M --bandwidth 50GB/s
plan ring:8 allgather -maxbytes 4K                        > plan ring:8 allgather --bytes 4K --bandwidth 50GB/s
plan ring:4 allreduce -b 1K -e 4K -f 2 -g 8               > plan ring:4 allreduce --bytes 1K:4K --bandwidth 50GB/s
plan ring:4 allreduce --minbytes 1K --maxbytes 4K         > plan ring:4 allreduce --bytes 1K:4K --bandwidth 50GB/s
plan ring:8 allreduce -n 20 -w 5                          > plan ring:8 allreduce
plan ring:8 allreduce --iters 20                          > plan ring:8 allreduce
plan ring:8 allreduce --datatype float                    > plan ring:8 allreduce
plan ring:8 allreduce --dtype bf16 --op sum               > plan ring:8 allreduce
plan ring:8 allreduce --op sum                            > plan ring:8 allreduce
plan ring:8 allreduce --ngpus 8                           > plan ring:8 allreduce
plan ring:8 allreduce --stepfactor 2                      > plan ring:8 allreduce
plan -np 8 ring:8 allreduce                               > plan ring:8 allreduce
plan ring:8 allreduce --hostfile hosts                    > plan ring:8 allreduce
plan ring:8 allreduce --map-by node                       > plan ring:8 allreduce
plan ring:8 allreduce --tree                              > plan ring:8 allreduce
all_reduce_perf -b 1K                                     > plan dgx-h100 all_reduce_perf --bytes 1K
plan ring:8 allgather --bytes 1MB --bandwidth 50GB        > plan ring:8 allgather --bytes 1MB --bandwidth 50GB/s
plan ring:8 allgather --bytes 1,000,000 --bandwidth 50GB/s > plan ring:8 allgather --bytes 1000000 --bandwidth 50GB/s
plan ring:4 allgather --bytes 1K-2K --bandwidth 50GB/s    > plan ring:4 allgather --bytes 1K:2K --bandwidth 50GB/s
plan ring:8 allgather --msgsize 1MB                       > plan ring:8 allgather --bytes 1MB --bandwidth 50GB/s
plan ring:8 allgather 1MB                                 > plan ring:8 allgather --bytes 1MB --bandwidth 50GB/s
plan ring:8 allgather --time 5s                           > plan ring:8 allgather --budget 5
plan ring:8 allgather --budget 5s                         > plan ring:8 allgather --budget 5
plan ring:8 allgather --cpus 2                            > plan ring:8 allgather --jobs 2
plan ring:8 allgather --memory-limit 4G                   > plan ring:8 allgather --memory 4G
plan ring:8 allgather --without links:0-9                 > plan ring:8 allgather --without links:0-7
plan ring:16 allgather --without links:0-9                > plan ring:16 allgather --without links:0-1
plan ring:8 allgather --without 3                         > plan ring:8 allgather --without nodes:3
plan ring:8 allgather --without node3                     > plan ring:8 allgather --without nodes:3
plan ring:8 allgather --without nodes=3                   > plan ring:8 allgather --without nodes:3
plan ring:8 allgather --without 0:1                       > plan ring:8 allgather --without links:0-1
plan ring:8 allgather --without links:0,1                 > plan ring:8 allgather --without links:0-1
plan ring:8 allgather --exclude nodes:3                   > plan ring:8 allgather --without nodes:3
plan ring:8 allgather --down-links 0-1                    > plan ring:8 allgather --without 0-1
plan ring:8 allgather '>' plan.parquet                    > plan ring:8 allgather -o plan.parquet
plan ring:8 allgather -o .                                > plan ring:8 allgather -o plan.parquet
plan ring:8 allgather -o x.svg -o                         > plan ring:8 allgather -o x.svg
plan ring:8 bcast root=3                                  > plan ring:8 bcast --root 3
plan ring:8 broadcast 3                                   > plan ring:8 broadcast --root 3
plan ring:8 broadcast from 3                              > plan ring:8 broadcast --root 3
plan on ring:8 allgather                                  > plan ring:8 allgather
plan 'ring:8;allgather'                                   > plan ring:8 allgather
plan ring:8/allgather                                     > plan ring:8 allgather
plan ring:8 allgather alltoall                            > plan ring:8 allgather
plan ring:4 a2av                                          > plan ring:4 alltoallv --traffic uniform
plan mi300x 2 broadcast                                   > plan mi300x:2 broadcast
plan 2 mi300x broadcast                                   > plan mi300x:2 broadcast
plan dgx h100 broadcast                                   > plan dgx-h100 broadcast
network dgx-h100 x 4                                      > network dgx-h100:4
network dgx-h100*4                                        > network dgx-h100:4
network 4xdgx-h100                                        > network dgx-h100:4
network dgxh100                                           > network dgx-h100
network dgx-h100:8gpus                                    > network dgx-h100:8
network dgx-a100:2,gpu=4                                  > network dgx-a100:2,gpus=4
network dgx-a100:2,gpus=16                                > network dgx-a100:2,gpus=8
list network                                              > list networks
list task                                                 > list tasks
ls                                                        > list networks
man plan                                                  > plan -h
verify plan                                               > verify plan.parquet
verify *.parquet                                          > verify cluster.parquet
verify q8.xml                                             > verify plan.xml --network complete:4
verify cluster                                            > verify cluster.parquet
verify ring:4 plan.xml                                    > verify plan.xml ring:4
draw plan.parquet x.svg                                   > draw plan.parquet -o x.svg
draw plan.parquet '>' x.svg                               > draw plan.parquet -o x.svg
draw plan.parquet -o x.svg --width 84                     > draw plan.parquet -o x.svg --width 40
export plan.parquet x.xml                                 > export plan.parquet --to msccl-xml -o x.xml
export plan.parquet --to msccl-xml x.xml                  > export plan.parquet --to msccl-xml -o x.xml
export plan.parquet --to json                             > export plan.parquet --to json -o plan.json
import plan.xml complete:4                                > import plan.xml --network complete:4 -o back.parquet
compare ring:8 allgather ring                             > compare ring:8 allgather
bounds ring:8 allgather -o x.csv                          > bounds ring:8 allgather -o x.tex
simulate traffic ring:4 --rate 0.1                        > simulate traffic ring:4 --load 0.1
simulate traffic ring:4 --load 10%                        > simulate traffic ring:4 --load 0.5
faults ring:5 allgather --link 2                          > faults ring:5 allgather --links 2
faults ring:5 allgather --samples 5                       > faults ring:5 allgather --sample 5
replan plan.parquet --links 0-1                           > replan plan.parquet --without 0-1
replan plan.parquet links:0-1                             > replan plan.parquet --without links:0-1
plan ring:4 allgather --bandwidth 1GB/s --lat 2us > plan ring:4 allgather --bandwidth 1GB/s --latency 2us
plan ring:4 allgather --bandwidth 1GB/s --beta 1e-9       > plan ring:4 allgather --bandwidth 1GB/s
plan torus 4x4 allgather                                  > plan torus:4x4 allgather
plan torus 4x4                                            > plan torus:4x4 allgather
plan torus 8 8 allgather                                  > plan torus:8x8 allgather
network torus 4x4                                         > network torus:4x4
plan hypercube 3 allgather                                > plan hypercube:3 allgather
plan hypercube:2^6 allgather                              > plan hypercube:6 allgather
plan hypercube 2^4 allgather                              > plan hypercube:4 allgather
plan torus:4^2 allgather                                  > plan torus:4x4 allgather
plan ring:2^4 allgather                                   > plan ring:16 allgather
plan 'torus[4,4]' allgather                               > plan torus:4,4 allgather
plan 4x4-torus allgather                                  > plan torus:4x4 allgather
plan 8-ring allgather                                     > plan ring:8 allgather
plan ring-8 allgather                                     > plan ring:8 allgather
plan 'torus 4x4' 'all gather'                             > plan torus:4x4 all-gather
plan ring:4 all gather                                    > plan ring:4 all-gather
plan ring:4 all reduce                                    > plan ring:4 all-reduce
plan ring:4 reduce scatter                                > plan ring:4 reduce-scatter
plan dgx-a100:2:gpus=4 broadcast                          > plan dgx-a100:2,gpus=4 broadcast
network dgx-h100:2:rails=4                                > network dgx-h100:2,rails=4
plan h100 broadcast                                       > plan dgx-h100 broadcast
plan b200 broadcast                                       > plan dgx-b200 broadcast
plan b200 allreduce --bytes 1MiB                          > plan dgx-b200 allreduce --bytes 1MiB
network 2xb200                                            > network dgx-b200:2
plan v100 allreduce --bytes 1MiB                          > plan dgx-1:v100 allreduce --bytes 1MiB
network dgx-v100                                          > network dgx-1:v100
plan p100 broadcast                                       > plan dgx-1:p100 broadcast
plan bus:8 allgather                                      > plan array:8 allgather
plan tree:8 broadcast                                     > plan fat-tree:k=2,h=3,capacity=constant broadcast
plan binary-tree:4 broadcast                              > plan fat-tree:k=2,h=4,capacity=constant broadcast
plan binary-tree:16 broadcast                             > plan fat-tree:k=2,h=4,capacity=constant broadcast
network tree                                              > network fat-tree:k=2,h=3,capacity=constant
plan comma.csv broadcast     > sed 's/,/ /g' comma.csv > comma.edges && plan comma.edges broadcast
network comma.csv            > sed 's/,/ /g' comma.csv > comma.edges && network comma.edges
plan comma.edges2 broadcast  > sed 's/,/ /g' comma.edges2 > comma.edges && plan comma.edges broadcast
plan heads.csv broadcast     > sed '1d;s/;/ /g' heads.csv > heads.edges && plan heads.edges broadcast
plan speeds.csv broadcast    > sed 's/,/ /g' speeds.csv > speeds.edges && plan speeds.edges broadcast
plan DGX-H100 x2 broadcast                                > plan DGX-H100:2 broadcast
plan topo.txt topo2.txt allreduce                         > plan topo.txt allreduce
plan topo.txt topo2.txt                                   > plan topo.txt allgather
network topo.txt topo2.txt                                > network topo.txt
bounds topo.txt topo2.txt broadcast                       > bounds topo.txt broadcast
plan mixed.edges broadcast                                > plan -h
plan ring:4 allgather -d half -o sum                      > plan ring:4 allgather
plan ring:4 allreduce -d half -o sum                      > plan ring:4 allreduce
plan ring:4 allreduce -o sum -d float -r 0
plan ring:4 allreduce -a ring                             > plan ring:4 allreduce --algorithm ring
plan ring:4 allreduce 1MiB 50GB/s                         > plan ring:4 allreduce --bytes 1MiB --bandwidth 50GB/s
plan ring:4 allreduce --bytes 1 MiB                       > plan ring:4 allreduce --bytes 1MiB --bandwidth 50GB/s
plan ring:4 allgather --bytes 1MiB --bandwidth 50 GB/s    > plan ring:4 allgather --bytes 1MiB --bandwidth 50GB/s
plan ring:4 allgather --bytes 1MiB --bandwidth 400        > plan ring:4 allgather --bytes 1MiB --bandwidth 400GB/s
plan ring:4 allgather --bytes=1Mib --bandwidth 50GB/s     > plan ring:4 allgather --bytes=1MiB --bandwidth 50GB/s
plan ring:4 allgather --latency 5us                       > plan ring:4 allgather --latency 5us --bandwidth 50GB/s
plan ring:4 allgather --chunks auto                       > plan ring:4 allgather --chunks 1
plan ring:4 allgather --chunk-size 4MiB                   > plan ring:4 allgather
plan ring:4 allgather --seed random                       > plan ring:4 allgather --seed 1
plan ring:4 allgather --output plan                       > plan ring:4 allgather --output plan.parquet
plan ring:4 allgather -o plan.pkl                         > plan ring:4 allgather -o plan.parquet
plan ring:4 allgather -oplan.svg --kind heatmap
plan ring:4 alltoall --algorithm pairwise-exchang               > plan ring:4 alltoall --algorithm pairwise-exchange
plan tpu-v4:64 broadcast                                  > plan tpu-v4:4x4x4 broadcast
plan tpuv4:4x4x4 broadcast                                > plan tpu-v4:4x4x4 broadcast
plan gaudi broadcast
plan mi300 broadcast
sweep ring:4..5 allgather > sweep --network 'ring:{4..5}' --task allgather -o results.parquet
"""
"""What is typed, and what is proposed, where that matters."""

DONE = {
    "plan TORUS:4X4 ALLGATHER": "plan torus:4x4 allgather",
    "Plan ring:4 allgather": "plan ring:4 allgather",
    "plan torus:4*4 allgather": "plan torus:4x4 allgather",
    "plan mesh:4x4 allgather": "plan array:4x4 allgather",
    "plan ring:4 all_gather_into_tensor": "plan ring:4 allgather",
    "plan ring:4 all_reduce_perf": "plan ring:4 allreduce",
    "plan ring:4 MPI_Alltoall": "plan ring:4 alltoall",
    "plan ring:4 ncclReduceScatter": "plan ring:4 reduce-scatter",
    "plan ring:4 allgather --ports 1": "plan ring:4 allgather --ports one",
    "plan ring:4 allgather --ports one-port": "plan ring:4 allgather --ports one",
    "plan ring:4 allgather --ports all_port": "plan ring:4 allgather",
    "plan ring:4 allgather --without 0-1": "plan ring:4 allgather --without links:0-1",
    "plan ring:4 allgather --without link:0-1": "plan ring:4 allgather --without links:0-1",
    "plan ring:4 allgather --without node:3": "plan ring:4 allgather --without nodes:3",
    "replan cluster.parquet --without a0-A": "replan cluster.parquet --without links:a0-A",
    "plan ring:4 alltoall --algorithm priced-paths": "plan ring:4 alltoall --algorithm congestion-priced-paths",
    "plan ring:4 allgather --group '0,1;2,3'": "plan ring:4 allgather --groups '0,1;2,3'",
    "help": "-h",
    "help plan": "plan -h",
    "version": "--version",
}
"""What has one meaning only is done: what is typed, and what does the same."""

EXCHANGED = {
    "plan allgather ring:4": "plan ring:4 allgather",
    "compare alltoall ring:4": "compare ring:4 alltoall",
    "bounds MPI_Allgather torus:4x4": "bounds torus:4x4 MPI_Allgather",
    "demands alltoall ring:4": "demands ring:4 alltoall",
}
"""Arguments in the wrong order, which are exchanged with a note."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with networks, two plans and a plan in another tool's format."""
    path = tmp_path_factory.mktemp("slips")
    (path / "net.edges").write_text("a0 A\na1 A\nA B\nB b0\nB b1\na0 a1\nb0 b1\n")
    for name in ("topo.txt", "topo2.txt"):
        shutil.copy(EXAMPLES / "dgx1.txt", path / name)
    for name in ("comma.csv", "comma.edges2"):
        (path / name).write_text("a,b\nb,c\nc,a\n")
    (path / "heads.csv").write_text("from;to\na;b\nb;c\n")
    (path / "speeds.csv").write_text("source,target,bandwidth\na,b,50GB/s\nb,c,25GB/s\n")
    (path / "mixed.edges").write_text("0 1 2\n1 2 50GB/s\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for line in FILES:
            assert main(shlex.split(line)) == 0
    return path


@pytest.fixture(autouse=True)
def _in_folder(folder, tmp_path, monkeypatch):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)


def told(line, capsys):
    status = main(shlex.split(line))
    out, err = capsys.readouterr()
    return status, out, err


_worked: set[str] = set()


def carried_out(proposal, capsys):
    """Carry out a proposal, once if several slips have it."""
    if proposal not in _worked:
        for line in proposal.split(" && "):
            if line.startswith("sed "):
                subprocess.run(line, shell=True, check=True)
                continue
            status, _, err = told(line.removeprefix("gossamer "), capsys)
            assert status == 0, (line, err)
        _worked.add(proposal)


def lines():
    for line in SLIPS.strip().splitlines():
        slip, _, proposal = line.partition(" > ")
        yield slip.strip(), proposal.strip()


def test_there_are_more_than_three_hundred_slips():
    assert len({slip for slip, _ in lines()}) >= 370


@pytest.mark.exhaustive(always=60)
@pytest.mark.parametrize(("slip", "proposal"), list(lines()))
def test_a_slip_gets_one_line_and_a_proposal_that_works(slip, proposal, capsys):
    status, out, err = told(slip, capsys)
    assert (status, out) == (2, "")
    err = re.sub(r"(?m)^assumed: .*\n", "", err)
    assert err.count("\n") == 1
    if "pip install" in err:
        pytest.skip("needs an extra that is not installed")
    text, sign, said = err.strip().removeprefix("gossamer: ").partition("; try: ")
    assert sign, err
    assert 10 < len(text) <= _TEXT, text
    if proposal:
        assert said.replace("gossamer ", "") == proposal
    assert re.match("gossamer |sed ", said)
    carried_out(said, capsys)


@pytest.mark.parametrize("typed", DONE)
def test_what_can_only_mean_one_thing_is_done(typed, capsys):
    def of_the_plan(line):
        """Return the status and what is said, without the sentence that repeats the words that were typed."""
        status, out, err = told(line, capsys)
        lines = [row for row in out.splitlines() if re.match("(network|rules|algorithm|time) ", row)]
        return status, lines or out, err

    assert of_the_plan(typed) == of_the_plan(DONE[typed])
    assert of_the_plan(typed)[0] == 0


@pytest.mark.parametrize("typed", EXCHANGED)
def test_a_task_that_is_typed_before_the_network_is_taken_for_it_with_a_note(typed, capsys):
    status, out, err = told(typed, capsys)
    assert status == 0
    assert err == f"gossamer: note: read as: gossamer {EXCHANGED[typed]}; the network comes first\n"
    assert out.splitlines()[0] == told(EXCHANGED[typed], capsys)[1].splitlines()[0]


def test_a_file_called_as_a_task_is_a_network(capsys):
    Path("allgather").write_text("0 1\n")
    status, _, err = told("plan allgather ring:4", capsys)
    assert status == 2
    assert "the network comes first" not in err
