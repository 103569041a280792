package io.keyfold.jcstress;

import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapView;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A view that two threads release counts once: another pin of the version still keeps its rows, and
 * memory goes back with that.
 */
@JCStressTest
@Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "the other view reads, then all is freed")
@Outcome(id = "7, [1-9].*", expect = Expect.ACCEPTABLE,
    desc = "left to the collector: the thread that pinned it, and has not ended, might be inside")
@Outcome(expect = Expect.FORBIDDEN, desc = "counted twice")
@State
public class ReleaseTwice {
    private final ArenaMap map = Maps.create();
    private final MapView view;
    private final MapView other;

    public ReleaseTwice() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
        view = map.pin(Maps.V1);
        other = map.pin(Maps.V1);
        map.close();
    }

    @Actor
    public void one() {
        view.release();
    }

    @Actor
    public void two() {
        view.release();
    }

    @Arbiter
    public void look(II_Result r) {
        // Freed memory has no row, or no page at all, which would end the JVM.
        r.r1 = map.memory().total() == 0 ? Maps.NONE : Maps.read(other, 1);
        other.release();
        r.r2 = (int) map.memory().total();
    }
}
