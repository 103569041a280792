package io.keyfold.jcstress;

import io.keyfold.errors.OutOfOrder;
import io.keyfold.model.FamilySpec;
import io.keyfold.model.VersionId;
import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import io.keyfold.map.MapView;
import io.keyfold.mem.Mem;
import io.keyfold.mem.page.PagePool;
import io.keyfold.mem.Slice;
import scala.Option;

/** What the tests do with a map: rows whose bytes are all the same, so that a torn one shows. */
final class Maps {
    /** The key's bytes, and the length of each value. */
    static final int LENGTH = 24;

    /** What {@link #read} gives for a key that is not there, or a version that is not held. */
    static final int NONE = -1;

    /** What {@link #read} gives for a value with different bytes. */
    static final int TORN = -2;

    static final VersionId V0 = VersionId.Empty();
    static final VersionId V1 = new VersionId(1, "");
    static final VersionId V2 = new VersionId(2, "");

    /** Of all maps: a test makes more of them than there is memory for pools. */
    private static final PagePool POOL = new PagePool(1L << 32, Option.empty());

    private Maps() {}

    static ArenaMap create() {
        return new ArenaMap(1, POOL);
    }

    static MapTxn begin(ArenaMap map, VersionId base) {
        MapTxn txn = map.begin(base);
        if (txn.familyIndex("f") < 0) {
            txn.createFamily(new FamilySpec("f", false, false, false, "row", "unsaferow", "all", 0, 0, false, false));
        }
        return txn;
    }

    static void put(MapTxn txn, int key, int value) {
        txn.put(0, key, bytes(key, LENGTH), bytes(value, LENGTH));
    }

    static void put(MapTxn txn, int key, int value, int length) {
        txn.put(0, key, bytes(key, LENGTH), bytes(value, length));
    }

    /** Commits one row. */
    static void commit(ArenaMap map, VersionId base, VersionId version, int key, int value) {
        MapTxn txn = begin(map, base);
        put(txn, key, value);
        txn.commit(version);
        txn.release();
    }

    /** The value's byte. */
    static int read(MapView view, int key) {
        Slice value = new Slice();
        return view.familyIndex("f") >= 0 && view.get(0, key, bytes(key, LENGTH), value)
            ? read(value)
            : NONE;
    }

    static int read(Slice value) {
        byte first = Mem.getByte(value.base(), value.offset());
        for (int i = 1; i < value.length(); i++) {
            if (Mem.getByte(value.base(), value.offset() + i) != first) return TORN;
        }
        return first;
    }

    static int pinAndRead(ArenaMap map, VersionId version, int key) {
        MapView view;
        try {
            view = map.pin(version);
        } catch (OutOfOrder notHeld) {
            return NONE;
        }
        try {
            return read(view, key);
        } finally {
            view.release();
        }
    }

    static Slice bytes(int value, int length) {
        byte[] bytes = new byte[length];
        java.util.Arrays.fill(bytes, (byte) value);
        return new Slice().set(bytes);
    }
}

