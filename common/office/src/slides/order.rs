//! Reading order by position.
//!
//! Shapes are parted by the white space between them, again and again (a recursive X-Y cut, Nagy and Seth 1984): into
//! bands from the top, or into columns from the left, whichever the wider gap parts. Where nothing parts them, a shape
//! that holds others (a picture behind its labels) comes before them; what remains overlaps and is read by its top.

use super::geometry::Rect;

/// A gap between columns must be this much wider than one between bands to go first: rows of cards are read along.
const COLUMN_PREFERENCE: f64 = 1.25;
/// Boxes are larger than the text in them: so much of a side may overlap and still leave a gap.
const SLACK: f64 = 0.08;
/// Of the widest gap: gaps this wide part as well.
const WIDE: f64 = 0.6;
/// More overlapping shapes than this are read by their top, without a look at which holds which.
const MOST_HELD: usize = 1_000;
/// Deepest parting; what is left is read by its top.
const DEPTH: usize = 64;

/// The order in which shapes are read. A shape without a place stays behind the one before it.
pub(super) fn reading_order(places: &[Option<Rect>]) -> Vec<usize> {
    let mut placed: Vec<(usize, Rect)> = Vec::new();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    let mut out = Vec::with_capacity(places.len());
    for (index, place) in places.iter().enumerate() {
        match (place, placed.last().and_then(|(last, _)| followers.get_mut(*last))) {
            (Some(rect), _) => placed.push((index, *rect)),
            (None, Some(behind)) => behind.push(index),
            (None, None) => out.push(index),
        }
    }
    let mut order = Vec::with_capacity(placed.len());
    part(placed, 0, &mut order);
    for index in order {
        out.push(index);
        out.append(&mut followers.get_mut(index).map(std::mem::take).unwrap_or_default());
    }
    out
}

fn part(mut shapes: Vec<(usize, Rect)>, depth: usize, out: &mut Vec<usize>) {
    if shapes.len() <= 1 || depth >= DEPTH {
        by_top(&mut shapes);
        out.extend(shapes.into_iter().map(|(index, _)| index));
        return;
    }
    let bands = cut(&shapes, |rect| (rect.y0, rect.y1));
    let columns = cut(&shapes, |rect| (rect.x0, rect.x1));
    let side_by_side = columns.widest > bands.widest * COLUMN_PREFERENCE || bands.groups.len() < 2;
    let groups = if side_by_side { columns.groups } else { bands.groups };
    if groups.len() > 1 {
        for group in groups {
            let group = group.into_iter().filter_map(|place| shapes.get(place).copied()).collect();
            part(group, depth.saturating_add(1), out);
        }
        return;
    }
    let compared = if shapes.len() > MOST_HELD { 0 } else { shapes.len() };
    let holder =
        (0..compared).filter(|place| holds_another(&shapes, *place)).max_by(|a, b| area(&shapes, *a).total_cmp(&area(&shapes, *b)));
    if let Some(holder) = holder {
        let (index, _) = shapes.remove(holder);
        out.push(index);
        part(shapes, depth.saturating_add(1), out);
        return;
    }
    by_top(&mut shapes);
    out.extend(shapes.into_iter().map(|(index, _)| index));
}

fn area(shapes: &[(usize, Rect)], place: usize) -> f64 {
    shapes.get(place).map_or(0.0, |(_, rect)| rect.area())
}

fn holds_another(shapes: &[(usize, Rect)], place: usize) -> bool {
    let Some((_, holder)) = shapes.get(place) else { return false };
    shapes.iter().enumerate().any(|(other, (_, rect))| other != place && holder.holds(rect) && holder.area() > rect.area())
}

fn by_top(shapes: &mut [(usize, Rect)]) {
    shapes.sort_by(|(a, left), (b, right)| left.y0.total_cmp(&right.y0).then(left.x0.total_cmp(&right.x0)).then(a.cmp(b)));
}

/// Groups of places along one axis, and the widest gap between two of them.
struct Cut {
    groups: Vec<Vec<usize>>,
    widest: f64,
}

fn cut(shapes: &[(usize, Rect)], side: fn(&Rect) -> (f64, f64)) -> Cut {
    let mut sorted: Vec<(f64, f64, usize)> = shapes
        .iter()
        .enumerate()
        .map(|(place, (_, rect))| {
            let (from, to) = side(rect);
            let slack = (to - from) * SLACK;
            (from + slack, to - slack, place)
        })
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    // Each with the gap before it, and then parted where the gap is one of the widest: a head must not leave its text
    // because something else parts them both from the rest.
    let mut gaps = Vec::with_capacity(sorted.len());
    let (mut end, mut widest, mut any) = (f64::INFINITY, 0.0_f64, false);
    for (from, to, place) in sorted {
        let gap = from - end;
        any |= gap >= 0.0;
        widest = widest.max(gap);
        gaps.push((gap, place));
        end = if end.is_finite() { end.max(to) } else { to };
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (gap, place) in gaps {
        match groups.last_mut() {
            Some(group) if !any || gap < widest * WIDE => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    // Inside a band or a column things keep the order in which they were drawn, until they are parted themselves.
    for group in &mut groups {
        group.sort_unstable();
    }
    Cut { groups, widest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(rects: &[(f64, f64, f64, f64)]) -> Vec<usize> {
        reading_order(&rects.iter().map(|&(x0, y0, x1, y1)| Some(Rect { x0, y0, x1, y1 })).collect::<Vec<_>>())
    }

    #[test]
    fn columns_with_heads_are_read_one_after_the_other() {
        // Two heads directly above their texts, a wide gap between the columns, a line across at the bottom.
        let shapes = [
            (300.0, 500.0, 500.0, 520.0),
            (400.0, 120.0, 700.0, 300.0),
            (400.0, 100.0, 700.0, 120.0),
            (20.0, 120.0, 320.0, 300.0),
            (20.0, 100.0, 320.0, 120.0),
        ];
        assert_eq!(order(&shapes), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn cards_are_read_along_their_rows() {
        let cards = [(220.0, 220.0, 400.0, 400.0), (20.0, 220.0, 200.0, 400.0), (220.0, 20.0, 400.0, 200.0), (20.0, 20.0, 200.0, 200.0)];
        assert_eq!(order(&cards), [3, 2, 1, 0]);
    }

    #[test]
    fn a_picture_comes_before_its_labels() {
        assert_eq!(order(&[(30.0, 60.0, 60.0, 70.0), (10.0, 20.0, 30.0, 30.0), (0.0, 0.0, 100.0, 100.0)]), [2, 1, 0]);
    }

    #[test]
    fn what_has_no_place_stays_where_it_was_drawn() {
        let at = |y: f64| Some(Rect { x0: 0.0, y0: y, x1: 10.0, y1: y + 5.0 });
        assert_eq!(reading_order(&[None, at(50.0), None, at(0.0)]), [0, 3, 1, 2]);
    }

    #[test]
    fn thousands_of_overlapping_shapes_end() {
        let shapes: Vec<_> = (0..2_000).map(|n| (f64::from(n), f64::from(n), f64::from(n) + 100.0, f64::from(n) + 100.0)).collect();
        assert_eq!(order(&shapes), (0..2_000).collect::<Vec<_>>());
    }
}
