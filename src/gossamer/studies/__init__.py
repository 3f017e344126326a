"""Studies: many plans or simulations together.

`sweeps` plans or simulates at many points, keeps the results and resumes; `design` looks for networks; `reproductions`
recomputes what the papers print. All take questions as `gossamer.planning` does and give reports with rows for people
and plain values for JSON. A new kind of point goes into `sweeps.point_kinds`, a new paper is one more folder of
`reproductions`.
"""
