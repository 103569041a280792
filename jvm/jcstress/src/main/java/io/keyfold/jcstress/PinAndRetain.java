package io.keyfold.jcstress;

import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A version is pinned and read while the next one replaces its row, is committed, and it is let go:
 * either it is gone, or its row stays while it is read.
 */
@JCStressTest
@Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "pinned in time")
@Outcome(id = "-1, 0", expect = Expect.ACCEPTABLE, desc = "let go before")
@Outcome(expect = Expect.FORBIDDEN, desc = "read after it was freed, or memory is left")
@State
public class PinAndRetain {
    private final ArenaMap map = Maps.create();

    public PinAndRetain() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
    }

    @Actor
    public void writer() {
        MapTxn txn = Maps.begin(map, Maps.V1);
        Maps.put(txn, 1, 8);
        txn.commit(Maps.V2);
        txn.release();
        map.retain(v -> v.equals(Maps.V2));
        // What was freed is used again at once.
        Maps.commit(map, Maps.V2, Maps.V2, 1, 9);
    }

    @Actor
    public void reader(II_Result r) {
        r.r1 = Maps.pinAndRead(map, Maps.V1, 1);
    }

    @Arbiter
    public void close(II_Result r) {
        map.close();
        r.r2 = (int) map.memory().total();
    }
}
