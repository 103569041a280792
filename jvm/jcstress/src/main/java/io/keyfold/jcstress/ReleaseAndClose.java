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

/** A map is closed while a view reads and is released: the row stays until then, and no longer. */
@JCStressTest
@Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "read whole, then all is freed")
@Outcome(expect = Expect.FORBIDDEN, desc = "read after it was freed, or memory is left")
@State
public class ReleaseAndClose {
    private final ArenaMap map = Maps.create();
    private final MapView view;

    public ReleaseAndClose() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
        view = map.pin(Maps.V1);
    }

    @Actor
    public void reader(II_Result r) {
        r.r1 = Maps.read(view, 1);
        view.release();
    }

    @Actor
    public void closer() {
        map.close();
    }

    @Arbiter
    public void look(II_Result r) {
        r.r2 = (int) map.memory().total();
    }
}
