package io.keyfold.jcstress;

import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Who pins a version sees its rows whole, however soon after the commit. */
@JCStressTest
@Outcome(id = "-1, -1, 0", expect = Expect.ACCEPTABLE, desc = "not committed yet")
@Outcome(id = "7, 8, 0", expect = Expect.ACCEPTABLE, desc = "committed, both rows whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "part of a commit, or memory is left")
@State
public class PublishByCommit {
    private final ArenaMap map = Maps.create();

    @Actor
    public void writer() {
        MapTxn txn = Maps.begin(map, Maps.V0);
        Maps.put(txn, 1, 7);
        Maps.put(txn, 2, 8);
        txn.commit(Maps.V1);
        txn.release();
    }

    @Actor
    public void reader(III_Result r) {
        r.r1 = Maps.pinAndRead(map, Maps.V1, 1);
        r.r2 = r.r1 == Maps.NONE ? Maps.NONE : Maps.pinAndRead(map, Maps.V1, 2);
    }

    @Arbiter
    public void close(III_Result r) {
        map.close();
        r.r3 = (int) map.memory().total();
    }
}
