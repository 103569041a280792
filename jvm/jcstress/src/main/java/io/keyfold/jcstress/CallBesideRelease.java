package io.keyfold.jcstress;

import io.keyfold.errors.OutOfOrder;
import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A transaction is released while another thread puts and gets. Each call comes before that or is
 * refused, and what is built on the same version next is whole; unless the thread that puts is the
 * one that began, which takes no lock: then the map is given up.
 */
@JCStressTest
@Outcome(id = "(9|-3), 8, 0", expect = Expect.ACCEPTABLE, desc = "before the release or refused; the map is whole")
@Outcome(id = "(9|-3), -1, .*", expect = Expect.ACCEPTABLE, desc = "the map is given up, to be loaded anew")
@Outcome(expect = Expect.FORBIDDEN, desc = "a torn row, another one, or memory is left")
@State
public class CallBesideRelease {
    private static final int REFUSED = -3;
    private final ArenaMap map = Maps.create();
    private final MapTxn txn;

    public CallBesideRelease() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
        txn = Maps.begin(map, Maps.V1);
    }

    @Actor
    public void caller(III_Result r) {
        try {
            Maps.put(txn, 2, 9);
            Maps.put(txn, 3, 9, 3000);
            r.r1 = Maps.read(txn, 2);
        } catch (OutOfOrder released) {
            r.r1 = REFUSED;
        }
    }

    @Actor
    public void releaser() {
        txn.abort();
        txn.release();
    }

    @Arbiter
    public void look(III_Result r) {
        if (map.holds(Maps.V1)) {
            MapTxn next = Maps.begin(map, Maps.V1);
            Maps.put(next, 2, 8);
            r.r2 = Maps.read(next, 1) == 7 && Maps.read(next, 3) == Maps.NONE ? Maps.read(next, 2) : Maps.TORN;
            next.release();
        } else {
            r.r2 = Maps.NONE;
        }
        map.close();
        r.r3 = (int) map.memory().total();
    }
}
