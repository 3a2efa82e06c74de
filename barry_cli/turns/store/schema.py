"""What ``barry.db`` holds, version by version."""

from __future__ import annotations

# Each entry brings the database from the version that is its place in the tuple to the next one.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        adapter TEXT NOT NULL,
        mode TEXT NOT NULL,
        cwd TEXT NOT NULL,
        harness_session_id TEXT,
        harness_version TEXT,
        guarantees TEXT NOT NULL,
        lowered TEXT NOT NULL,
        unverified INTEGER NOT NULL,
        warnings TEXT NOT NULL,
        asked TEXT NOT NULL,
        resumed_from TEXT,
        owner_uid INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('starting', 'running', 'handed_over', 'ended')),
        pid INTEGER,
        pid_started TEXT,
        supervisor_pid INTEGER,
        supervisor_started TEXT,
        exit_status INTEGER,
        exit_signal INTEGER,
        created_at TEXT NOT NULL,
        ended_at TEXT
    ) STRICT;
    CREATE INDEX session_by_time ON session (created_at);
    CREATE INDEX session_by_conversation ON session (adapter, harness_session_id);
    """,
    """
    CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL REFERENCES session (id),
        run_id TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'waiting_for_input',
            'recovery_required', 'completed', 'failed', 'cancelled')),
        revision INTEGER NOT NULL CHECK (revision > 0),
        owner TEXT,
        fence INTEGER NOT NULL DEFAULT 0,
        put_down INTEGER NOT NULL DEFAULT 0 CHECK (put_down IN (0, 1)),
        pauses INTEGER NOT NULL DEFAULT 0,
        expires_at INTEGER,
        after_event INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        ended_at INTEGER,
        actor TEXT NOT NULL,
        policy TEXT NOT NULL,
        error TEXT,
        result TEXT,
        content TEXT NOT NULL,
        CHECK (state <> 'queued' OR (owner IS NULL AND fence = 0)),
        CHECK ((ended_at IS NULL) = (state IN ('queued', 'running', 'waiting_for_input')))
    ) STRICT;
    CREATE INDEX turn_by_session ON turn (session_id, number);
    CREATE UNIQUE INDEX turn_active ON turn (session_id)
        WHERE state IN ('running', 'waiting_for_input');
    CREATE UNIQUE INDEX turn_held ON turn (session_id) WHERE owner IS NOT NULL;
    CREATE INDEX turn_queued ON turn (session_id, number) WHERE state = 'queued';
    CREATE TABLE event (
        session_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        turn_id TEXT,
        passing INTEGER NOT NULL CHECK (passing IN (0, 1)),
        recorded_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session_id, sequence)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE call (
        turn_id TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        shape TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('not_started', 'executing', 'completed', 'failed',
            'denied', 'uncertain')),
        result TEXT,
        PRIMARY KEY (turn_id, id),
        CHECK ((result IS NOT NULL) = (state IN ('completed', 'failed', 'denied')))
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE interrupt (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        pause INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        call TEXT NOT NULL,
        shape TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pending', 'cancelled', 'approved', 'denied',
            'expired')),
        decision TEXT,
        decided_by TEXT,
        decided_at INTEGER,
        context TEXT,
        UNIQUE (turn_id, pause, call_id),
        CHECK ((decision IS NOT NULL) = (status IN ('approved', 'denied', 'expired')))
    ) STRICT;
    CREATE TABLE receipt (
        session_id TEXT NOT NULL,
        request_id TEXT NOT NULL,
        hash TEXT NOT NULL,
        turn_id TEXT NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
        PRIMARY KEY (session_id, request_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX receipt_by_turn ON receipt (turn_id);
    CREATE TABLE answer (
        session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        shape TEXT NOT NULL,
        decision TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        PRIMARY KEY (session_id, shape)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE checkpoint (
        turn_id TEXT PRIMARY KEY REFERENCES turn (id) ON DELETE CASCADE,
        descriptor TEXT NOT NULL
    ) STRICT;
    CREATE TABLE conversation (
        session_id TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
        descriptor TEXT NOT NULL
    ) STRICT;
    """,
    """
    ALTER TABLE session ADD COLUMN socket TEXT;
    ALTER TABLE session ADD COLUMN token_digest TEXT;
    ALTER TABLE session ADD COLUMN activity TEXT
        CHECK (activity IN ('starting', 'idle', 'active', 'waiting'));
    CREATE TABLE message (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL CHECK (seq > 0),
        id TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('held', 'writing', 'written', 'consumed', 'failed',
            'uncertain')),
        reason TEXT,
        owner TEXT,
        steer INTEGER NOT NULL CHECK (steer IN (0, 1)),
        sender_name TEXT,
        sender_session TEXT,
        sender_pid INTEGER,
        sender_uid INTEGER NOT NULL,
        held_at TEXT NOT NULL,
        written_at TEXT,
        ended_at TEXT,
        content TEXT NOT NULL,
        UNIQUE (session_id, seq),
        UNIQUE (session_id, id),
        CHECK ((owner IS NOT NULL) = (state = 'writing')),
        CHECK ((ended_at IS NOT NULL) = (state IN ('consumed', 'failed', 'uncertain')))
    ) STRICT;
    CREATE INDEX message_waiting ON message (session_id, seq)
        WHERE state IN ('held', 'writing');
    """,
)
