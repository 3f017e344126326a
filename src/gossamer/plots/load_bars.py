def _paint_groups(figure: Any, schedule: Schedule, load: npt.NDArray[np.int64], width: float, height: float,
                  top: float) -> None:  # fmt: skip
    """Show mean, least and largest load of each group of links as a bar with a whisker."""
    groups = link_groups(schedule.network)
    names, count = groups.names[:_NAMED], np.bincount(groups.group, minlength=len(groups.names))
    mean = np.bincount(groups.group, load, minlength=count.size) / np.maximum(count, 1)
    least, most = np.full(count.size, load.max(initial=0)), np.zeros(count.size, np.int64)
    np.minimum.at(least, groups.group, load)
    np.maximum.at(most, groups.group, load)
    shown = slice(len(names))
    notes = f"Bars: mean over the links of a group; whiskers: least and largest. Above {plural(NODE_LIMIT, 'node')} "
    notes += "single links are not drawn."
    if len(names) < len(groups.names):
        notes += f" The first {len(names)} of {len(groups.names)} groups."
    foot = caption(figure, notes, width, height)
    left, right = 0.3 + 0.085 * max(map(len, names)), 1.2
    axes = figure.add_axes(
        (left / width, (foot + 0.5) / height, (width - left - right) / width, (height - top - foot - 0.6) / height)
    )
    row = np.arange(len(names))
    axes.barh(row, mean[shown], height=0.62, color=sequential()(0.55))
    axes.hlines(row, least[shown], most[shown], color=INK, linewidth=1.1)
    for r, (low, middle, high, links) in enumerate(zip(least, mean, most, count, strict=True)):
        if r < len(names):
            text = f" {middle:,.0f}" if low == high else f" {low:,}–{high:,}"
            write(axes, max(float(high), middle), r, text, 7.5, va="center", color=INK)
            write(axes, 0, r, f" {plural(int(links), 'link')}", 7, va="center", color=PAPER)
    axes.set(xlim=(0, max(1, int(load.max(initial=0))) * 1.02), ylim=(len(names) - 0.4, -0.6), yticks=row)
    axes.set_yticklabels(names, fontsize=8.5, parse_math=False)
    axes.set_xlabel(_unit_of(schedule), fontsize=8.5, color=INK)
    axes.tick_params(labelsize=8, length=2, width=0.6, color=MUTED)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
