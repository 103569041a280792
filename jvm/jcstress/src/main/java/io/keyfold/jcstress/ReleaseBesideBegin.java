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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A transaction is released while another thread begins the next one on the same version: that is
 * refused or has an arena of its own to write to, and the released one's rows are freed once.
 */
@JCStressTest
@Outcome(id = "8, 0", expect = Expect.ACCEPTABLE, desc = "begun after the other had ended")
@Outcome(id = "-1, 0", expect = Expect.ACCEPTABLE, desc = "refused, since the other was open")
@Outcome(id = "-1, [1-9].*", expect = Expect.ACCEPTABLE, desc = "given up by a thread that had not begun it")
@Outcome(expect = Expect.FORBIDDEN, desc = "torn, mixed, or memory is left")
@State
public class ReleaseBesideBegin {
    private final ArenaMap map = Maps.create();
    private final MapTxn txn;

    public ReleaseBesideBegin() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
        txn = Maps.begin(map, Maps.V1);
        Maps.put(txn, 2, 9);
        Maps.put(txn, 1, 9);
    }

    @Actor
    public void releaser() {
        txn.release();
    }

    @Actor
    public void beginner(II_Result r) {
        MapTxn next;
        try {
            next = Maps.begin(map, Maps.V1);
        } catch (OutOfOrder refused) {
            r.r1 = Maps.NONE;
            return;
        }
        Maps.put(next, 2, 8);
        r.r1 = Maps.read(next, 1) == 7 ? Maps.read(next, 2) : Maps.TORN;
        next.release();
    }

    @Arbiter
    public void look(II_Result r) {
        map.close();
        r.r2 = (int) map.memory().total();
    }
}
