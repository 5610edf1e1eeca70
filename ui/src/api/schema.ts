// Made by `npm run types` from openapi.json. Do not edit.

export interface paths {
    "/api/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run Batch
         * @description Runs a pipeline once over a range; answers when it is done.
         */
        post: operations["run_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Pipeline
         * @description What is known of a pipeline, faults included, for live typing. 400 where it does not parse.
         */
        post: operations["check_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Events
         * @description Server-sent events of all pipelines or of one. With Last-Event-ID, those since then that are still kept.
         *
         *     Events named `metrics` hold a MetricsTick and have no id, `missed` says how many were lost to a slow reader;
         *     all others are named by their kind and hold a JobEvent.
         */
        get: operations["follow_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Groups */
        get: operations["list_groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Group */
        get: operations["show_group"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{group}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset Group
         * @description Old and new offsets; with `dry_run` nothing is changed. 409 while the group has members.
         */
        post: operations["reset_group"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Jobs */
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Job */
        get: operations["show_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{name}/errors/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Newest Errors
         * @description The newest rows that an expression of the node failed for, or records that a source could not read, the
         *     newest last. A restart begins with none.
         */
        get: operations["newest_errors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{name}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Events
         * @description The newest events of a pipeline that are still kept, oldest first.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{name}/preview/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview Node
         * @description The newest rows of a preview node, the newest last.
         */
        get: operations["preview_node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{name}/sample": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sample Edge
         * @description The newest rows on any edge: the part of the graph above it runs once over the newest records.
         */
        post: operations["sample_edge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Logout
         * @description With the token: ends the sessions of all browsers. With a session: ends that one.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Operators */
        get: operations["list_operators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operators/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Operator */
        get: operations["show_operator"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Pipelines */
        get: operations["list_pipelines"];
        put?: never;
        /**
         * Save Pipeline
         * @description A new version; 200 and the latest one when it means the same as that.
         */
        post: operations["save_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Pipeline
         * @description The latest version or a given one, in all notations.
         */
        get: operations["show_pipeline"];
        put?: never;
        post?: never;
        /** Delete Pipeline */
        delete: operations["delete_pipeline"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/deploy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deploy Draft
         * @description The draft becomes a version and runs instead of the one that runs now. 400 with problems if it cannot run.
         */
        post: operations["deploy_draft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff Versions
         * @description What changed from `old` to `new`: each a version's number, `draft`, `running` or `latest`.
         */
        get: operations["diff_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Draft
         * @description Made of the latest version where there is none yet.
         */
        get: operations["read_draft"];
        /**
         * Write Draft
         * @description Kept even with problems. 409 with `current` where it is at another revision: then nothing was written.
         */
        put: operations["write_draft"];
        post?: never;
        /**
         * Discard Draft
         * @description The next draft is made of the version that runs, or that a start would take.
         */
        delete: operations["discard_draft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/draft/texts/{notation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Write Draft Text
         * @description Keeps what somebody writes and what cannot be read yet. The draft itself stays as it is.
         */
        put: operations["write_draft_text"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Pipeline
         * @description Runs now and after every restart of the server, until stopped.
         */
        post: operations["start_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop Pipeline */
        post: operations["stop_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Versions */
        get: operations["list_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/{name}/versions/{number}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Version
         * @description The draft becomes that version.
         */
        post: operations["restore_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pipelines/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate Pipeline
         * @description What is known of a pipeline that can run; 400 with every problem found otherwise. Nothing is saved.
         */
        post: operations["validate_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Root */
        get: operations["registry_root"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/compatibility/subjects/{subject}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare All */
        post: operations["registry_compare_all"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/compatibility/subjects/{subject}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare */
        post: operations["registry_compare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Level */
        get: operations["registry_level"];
        /** Set Level */
        put: operations["registry_set_level"];
        post?: never;
        /** Unset Level */
        delete: operations["registry_unset_level"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/config/{subject}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subject Level */
        get: operations["registry_subject_level"];
        /** Set Subject Level */
        put: operations["registry_set_subject_level"];
        post?: never;
        /** Unset Subject Level */
        delete: operations["registry_unset_subject_level"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/contexts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Contexts */
        get: operations["registry_contexts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Mode */
        get: operations["registry_mode"];
        /** Set Mode */
        put: operations["registry_set_mode"];
        post?: never;
        /** Unset Mode */
        delete: operations["registry_unset_mode"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/mode/{subject}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subject Mode */
        get: operations["registry_subject_mode"];
        /** Set Subject Mode */
        put: operations["registry_set_subject_mode"];
        post?: never;
        /** Unset Subject Mode */
        delete: operations["registry_unset_subject_mode"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Schemas */
        get: operations["registry_schemas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas/ids/{schema_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Schema By Id */
        get: operations["registry_schema_by_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas/ids/{schema_id}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Schema Text */
        get: operations["registry_schema_text"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas/ids/{schema_id}/subjects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subjects Of */
        get: operations["registry_subjects_of"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas/ids/{schema_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Versions Of */
        get: operations["registry_versions_of"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/schemas/types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Kinds */
        get: operations["registry_kinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subjects */
        get: operations["registry_subjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects/{subject}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find */
        post: operations["registry_find"];
        /** Delete Subject */
        delete: operations["registry_delete_subject"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects/{subject}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Versions */
        get: operations["registry_versions"];
        put?: never;
        /** Register */
        post: operations["registry_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects/{subject}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Entry */
        get: operations["registry_entry"];
        put?: never;
        post?: never;
        /** Delete Version */
        delete: operations["registry_delete_version"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects/{subject}/versions/{version}/referencedby": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Referenced By */
        get: operations["registry_referenced_by"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/registry/subjects/{subject}/versions/{version}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Entry Text */
        get: operations["registry_entry_text"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run Pipeline
         * @description The pipeline becomes a version and runs instead of the one that runs now. What is refused is not saved, and
         *     stops nothing.
         */
        post: operations["run_pipeline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Signals
         * @description The newest, in the order of their places.
         */
        get: operations["list_signals"];
        put?: never;
        /**
         * Send Signal
         * @description Answers when the signal is in its place; what becomes of it there is told by the job's events.
         */
        post: operations["send_signal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run Statements
         * @description SELECT from tables, CREATE TABLE, SHOW, DESCRIBE, EXPLAIN, START PIPELINE and their kin: a table for each.
         */
        post: operations["run_statements"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sql/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look
         * @description The rows of a SELECT over streams while they come, until the reader leaves or the SELECT's LIMIT is there.
         *
         *     The first line has `columns` and `keys`, all others have `rows`, or `error` at the end.
         */
        post: operations["look"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Templates */
        get: operations["list_templates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates/{template}/use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use Template
         * @description A new pipeline with the template as its draft. 409 where the name is taken.
         */
        post: operations["use_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/test-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test Run
         * @description Rows that leave each node, for rows given here or the newest of the sources. Writes nothing.
         */
        post: operations["test_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Topics */
        get: operations["list_topics"];
        put?: never;
        /** Create Topic */
        post: operations["create_topic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/topics/{topic}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show Topic */
        get: operations["show_topic"];
        put?: never;
        post?: never;
        /**
         * Delete Topic
         * @description The topic and all its records.
         */
        delete: operations["delete_topic"];
        options?: never;
        head?: never;
        /** Alter Topic */
        patch: operations["alter_topic"];
        trace?: never;
    };
    "/api/topics/{topic}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Browse Messages
         * @description A page of messages: forward from earliest, offset:N or timestamp:ISO8601, backward from latest.
         *
         *     Answers within a time budget with what was found by then; `cursor` (the page's `next`) continues.
         */
        get: operations["browse_messages"];
        put?: never;
        /**
         * Produce Message
         * @description Answers when the message is on disk.
         */
        post: operations["produce_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Health
         * @description The process answers; open to all.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description Prometheus' text format.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ready
         * @description 200 while Spark is up, else 503. Wanted pipelines start after that, one after another.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * BatchBody
         * @description A range as `start` and `end` of topics: earliest, latest, offset:N or timestamp:ISO8601.
         */
        BatchBody: {
            document?: components["schemas"]["DocumentModel"] | null;
            /**
             * End
             * @default latest
             */
            end: string;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /** Sql */
            sql?: string | null;
            /**
             * Start
             * @default earliest
             */
            start: string;
            /** Text */
            text?: string | null;
        };
        /**
         * BatchFigures
         * @description Of the query whose batches take longest. `count` is over all queries, and so is `rows_per_second`: rows that
         *     left their sources, over the last seconds.
         */
        BatchFigures: {
            /** Count */
            count: number;
            /** Last Ms */
            last_ms: number;
            /** Rows Per Second */
            rows_per_second: number;
        };
        /** BatchView */
        BatchView: {
            /** Bad */
            bad: {
                [key: string]: number;
            };
            /** Pipeline */
            pipeline: string;
            /** Rows */
            rows: {
                [key: string]: number;
            };
            /** Seconds */
            seconds: number;
        };
        /**
         * BeginningView
         * @description Where a query began with the last start: it went on from its last commit, or the state of `empty` began empty.
         */
        BeginningView: {
            /** Empty */
            empty: string[];
            /** Goes On */
            goes_on: boolean;
            /** Query */
            query: string;
            /** Text */
            text: string;
        };
        /**
         * ChangeView
         * @description `old` and `new` are ids of a renamed node, names of operators, or JSON texts of a setting; `text` says it all.
         */
        ChangeView: {
            edge: components["schemas"]["EdgeModel"] | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "node_added" | "node_removed" | "node_renamed" | "operator_replaced" | "setting_changed" | "edge_added" | "edge_removed";
            /** New */
            new: string | null;
            /** Node */
            node: string | null;
            /** Old */
            old: string | null;
            /** Setting */
            setting: string | null;
            /** Text */
            text: string;
        };
        /**
         * CheckView
         * @description What can be told of a pipeline without running it. `schemas` has the nodes whose columns are known.
         */
        CheckView: {
            document: components["schemas"]["DocumentModel"];
            notations: components["schemas"]["Notations"];
            /** Problems */
            problems: components["schemas"]["ProblemView"][];
            /** Schemas */
            schemas: {
                [key: string]: components["schemas"]["SchemaView"];
            };
        };
        /** ColumnView */
        ColumnView: {
            /** Name */
            name: string;
            /** Type */
            type: string;
        };
        /**
         * Comparison
         * @description `messages` only where they were asked for, with `verbose`.
         */
        Comparison: {
            /** Is Compatible */
            is_compatible: boolean;
            /** Messages */
            messages?: string[] | null;
        };
        /**
         * Content
         * @description A key, a value or a header: a JSON value, a text, base64 of bytes that are neither, or nothing.
         */
        Content: {
            /**
             * Encoding
             * @enum {string}
             */
            encoding: "json" | "text" | "base64" | "null";
            /** Size */
            size: number;
            /** Value */
            value: unknown;
        };
        /** DeletedView */
        DeletedView: {
            /** Deleted */
            deleted: boolean;
            /** Name */
            name: string;
        };
        /** DeployBody */
        DeployBody: {
            /**
             * Author
             * @default
             */
            author: string;
            /** Begin */
            begin?: ("latest" | "last-commit" | "earliest") | null;
            /**
             * Confirmed
             * @default false
             */
            confirmed: boolean;
            /** Expected Revision */
            expected_revision: number;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Reset
             * @default false
             */
            reset: boolean;
            /**
             * Truncate
             * @default false
             */
            truncate: boolean;
        };
        /** DeployView */
        DeployView: {
            draft: components["schemas"]["DraftView"];
            job: components["schemas"]["JobView"];
            version: components["schemas"]["VersionInfoView"];
        };
        /** DiffView */
        DiffView: {
            /** Changes */
            changes: components["schemas"]["ChangeView"][];
        };
        /**
         * DocumentModel
         * @description A pipeline: format, name, nodes and edges. `format`, `config` and the ports may be left out of a request.
         */
        DocumentModel: {
            /** Edges */
            edges: components["schemas"]["EdgeModel"][];
            /**
             * Format
             * @default 1
             * @constant
             */
            format: 1;
            /** Name */
            name: string;
            /** Nodes */
            nodes: components["schemas"]["NodeModel"][];
        };
        /**
         * DraftBody
         * @description `expected_revision` is the one that this replaces; 0 for a pipeline that has no draft yet.
         */
        DraftBody: {
            document?: components["schemas"]["DocumentModel"] | null;
            /** Expected Revision */
            expected_revision: number;
            /** Layout */
            layout?: {
                [key: string]: components["schemas"]["Position"];
            } | null;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /** Sql */
            sql?: string | null;
            /** Text */
            text?: string | null;
        };
        /**
         * DraftTextBody
         * @description A text that cannot be read as a pipeline yet; null forgets it.
         */
        DraftTextBody: {
            /** Text */
            text: string | null;
        };
        /**
         * DraftTexts
         * @description By notation, what is being written and cannot be read as a pipeline yet.
         */
        DraftTexts: {
            /** Texts */
            texts: {
                [key: string]: string;
            };
        };
        /**
         * DraftView
         * @description `changes` is against `changes_from`; `latest_version` above `base_version`: somebody saved one meanwhile.
         */
        DraftView: {
            /** Base Version */
            base_version: number;
            /** Changes */
            changes: components["schemas"]["ChangeView"][];
            /**
             * Changes From
             * @enum {string}
             */
            changes_from: "running" | "latest" | "nothing";
            document: components["schemas"]["DocumentModel"];
            /** Latest Version */
            latest_version: number;
            /** Layout */
            layout: {
                [key: string]: components["schemas"]["Position"];
            };
            notations: components["schemas"]["Notations"];
            /** Pipeline */
            pipeline: string;
            /** Problems */
            problems: components["schemas"]["ProblemView"][];
            /** Revision */
            revision: number;
            /**
             * Saved At
             * Format: date-time
             */
            saved_at: string;
            /** Schemas */
            schemas: {
                [key: string]: components["schemas"]["SchemaView"];
            };
            /** Texts */
            texts: {
                [key: string]: string;
            };
        };
        /**
         * EdgeFigures
         * @description `lag`: records of the source topic that are not yet in the output; null where the edge begins at no topic.
         */
        EdgeFigures: {
            /** Lag */
            lag: number | null;
            /** Rate */
            rate: number;
            /** Rows */
            rows: number;
            /** Source */
            source: string;
            /**
             * Source Port
             * @default out
             */
            source_port: string;
            /** Target */
            target: string;
            /**
             * Target Port
             * @default in
             */
            target_port: string;
        };
        /** EdgeModel */
        EdgeModel: {
            /** Source */
            source: string;
            /**
             * Source Port
             * @default out
             */
            source_port: string;
            /** Target */
            target: string;
            /**
             * Target Port
             * @default in
             */
            target_port: string;
        };
        /**
         * EventList
         * @description Oldest first.
         */
        EventList: {
            /** Events */
            events: components["schemas"]["JobEvent"][];
        };
        /** ExpectedBody */
        ExpectedBody: {
            /** Expected Revision */
            expected_revision: number;
        };
        /**
         * GroupEntry
         * @description `lag` is over all partitions with a committed offset.
         */
        GroupEntry: {
            /** Lag */
            lag: number;
            /** Members */
            members: number;
            /** Name */
            name: string;
            /** State */
            state: string;
            /** Topics */
            topics: string[];
        };
        /** GroupList */
        GroupList: {
            /** Groups */
            groups: components["schemas"]["GroupEntry"][];
        };
        /**
         * GroupOffset
         * @description `committed` is null where the group committed nothing; then it has no lag.
         */
        GroupOffset: {
            /** Committed */
            committed: number | null;
            /** End Offset */
            end_offset: number;
            /** Lag */
            lag: number | null;
            /** Partition */
            partition: number;
            /** Start Offset */
            start_offset: number;
            /** Topic */
            topic: string;
        };
        /** GroupView */
        GroupView: {
            /** Members */
            members: components["schemas"]["MemberView"][];
            /** Name */
            name: string;
            /** Offsets */
            offsets: components["schemas"]["GroupOffset"][];
            /** State */
            state: string;
        };
        /** HeaderView */
        HeaderView: {
            content: components["schemas"]["Content"];
            /** Name */
            name: string;
        };
        /** HealthView */
        HealthView: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /**
         * JobError
         * @description `record` is the offending one, where it is known.
         */
        JobError: {
            /** Code */
            code: string;
            /** Hint */
            hint: string | null;
            /** Message */
            message: string;
            /** Node */
            node: string | null;
            /** Record */
            record: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * JobEvent
         * @description `number` grows by one from event to event.
         */
        JobEvent: {
            /** Details */
            details: {
                [key: string]: unknown;
            };
            /**
             * Kind
             * @enum {string}
             */
            kind: "started" | "stopped" | "state_changed" | "error" | "progress" | "end_of_stream" | "draft_changed" | "signal" | "stalled" | "system";
            /** Node */
            node: string | null;
            /** Number */
            number: number;
            /** Pipeline */
            pipeline: string;
            /** Time Ms */
            time_ms: number;
        };
        /**
         * JobFigures
         * @description `error` is why the job failed, or why it was started again, until it has moved since; `paused_by` the signal that
         *     a paused job waits behind.
         *
         *     `waits_for`: what holds it up (Spark that starts, its turn to start, a query that has not moved for long, a registry
         *     or a broker that does not answer).
         */
        JobFigures: {
            batches: components["schemas"]["BatchFigures"];
            /** Edges */
            edges: components["schemas"]["EdgeFigures"][];
            error: components["schemas"]["JobError"] | null;
            /** Nodes */
            nodes: {
                [key: string]: components["schemas"]["NodeFigures"];
            };
            /** Paused By */
            paused_by: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "starting" | "running" | "paused" | "stopping" | "stopped" | "failed";
            /** Waits For */
            waits_for: string | null;
        };
        /** JobList */
        JobList: {
            /** Jobs */
            jobs: components["schemas"]["JobView"][];
        };
        /**
         * JobView
         * @description `signals_refused`: why no signal can reach the pipeline; null where one can. `parameters`: settings in force that
         *     signals changed, by node; the others are those of the document. `newer_code`: that plugin files were changed after
         *     it was started, and what is wrong with them; null where they were not.
         */
        JobView: {
            batches: components["schemas"]["BatchFigures"];
            /** Began */
            began: components["schemas"]["BeginningView"][];
            /** Content Hash */
            content_hash: string;
            /** Edges */
            edges: components["schemas"]["EdgeFigures"][];
            error: components["schemas"]["JobError"] | null;
            /** Newer Code */
            newer_code: string | null;
            /** Nodes */
            nodes: {
                [key: string]: components["schemas"]["NodeFigures"];
            };
            /** Parameters */
            parameters: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            /** Paused By */
            paused_by: string | null;
            /** Pipeline */
            pipeline: string;
            /** Queries */
            queries: components["schemas"]["QueryView"][];
            /** Restarts */
            restarts: number;
            /** Signals Refused */
            signals_refused: string | null;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            /**
             * State
             * @enum {string}
             */
            state: "starting" | "running" | "paused" | "stopping" | "stopped" | "failed";
            /** Version */
            version: number | null;
            /** Waits For */
            waits_for: string | null;
        };
        /**
         * LevelBody
         * @description Other settings of Confluent's are refused by name.
         */
        LevelBody: {
            /** Compatibility */
            compatibility: string;
        } & {
            [key: string]: unknown;
        };
        /** LevelView */
        LevelView: {
            /** Compatibilitylevel */
            compatibilityLevel: string;
        };
        /**
         * LookBody
         * @description A SELECT over streams, with the definitions that it needs before it. `start` overrules where streams begin.
         */
        LookBody: {
            /** Sql */
            sql: string;
            /** Start */
            start?: ("earliest" | "latest") | null;
        };
        /**
         * LookLine
         * @description What one line of a look may have. `keys` name the row that a later one takes the place of; null: rows stay.
         */
        LookLine: {
            /** Columns */
            columns: string[] | null;
            error: components["schemas"]["ProblemDetails"] | null;
            /** Keys */
            keys: string[] | null;
            /** Rows */
            rows: {
                [key: string]: unknown;
            }[] | null;
        };
        /** MemberPartition */
        MemberPartition: {
            /** Partition */
            partition: number;
            /** Topic */
            topic: string;
        };
        /** MemberView */
        MemberView: {
            /** Client Id */
            client_id: string;
            /** Host */
            host: string;
            /** Id */
            id: string;
            /** Partitions */
            partitions: components["schemas"]["MemberPartition"][];
        };
        /**
         * MessageBody
         * @description `value` and `key` are texts, or any JSON value with encoding json, or base64; null is no value.
         */
        MessageBody: {
            /** Headers */
            headers?: {
                [key: string]: string;
            };
            /** Key */
            key?: unknown;
            /**
             * Key Encoding
             * @default text
             * @enum {string}
             */
            key_encoding: "text" | "json" | "base64";
            /** Partition */
            partition?: number | null;
            /** Value */
            value?: unknown;
            /**
             * Value Encoding
             * @default text
             * @enum {string}
             */
            value_encoding: "text" | "json" | "base64";
        };
        /**
         * MessagePage
         * @description `next` continues where this page ended, also where the time was up: then `is_complete` is false. `remaining`:
         *     offsets that are not looked at yet, of all partitions.
         */
        MessagePage: {
            /** Is Complete */
            is_complete: boolean;
            /** Messages */
            messages: components["schemas"]["MessageView"][];
            /** Next */
            next: string | null;
            /** Remaining */
            remaining: number;
            /** Scanned */
            scanned: number;
            /** Took Ms */
            took_ms: number;
        };
        /**
         * MessageView
         * @description `error` says why a message could not be shown in the wanted format.
         */
        MessageView: {
            /** Error */
            error: string | null;
            /** Headers */
            headers: components["schemas"]["HeaderView"][];
            key: components["schemas"]["Content"];
            /** Offset */
            offset: number;
            /** Partition */
            partition: number;
            /** Size */
            size: number;
            /** Timestamp */
            timestamp: string | null;
            value: components["schemas"]["Content"];
        };
        /**
         * MetricsTick
         * @description All jobs at one moment; sent at most twice a second.
         */
        MetricsTick: {
            /** Jobs */
            jobs: {
                [key: string]: components["schemas"]["JobFigures"];
            };
            /** Notices */
            notices: components["schemas"]["NoticeView"][];
            /** Time Ms */
            time_ms: number;
        };
        /**
         * ModeBody
         * @description Also the answer.
         */
        ModeBody: {
            /** Mode */
            mode: string;
        };
        /** NodeCountView */
        NodeCountView: {
            /** Bad Total */
            bad_total: number;
            /** Copied Bytes Total */
            copied_bytes_total: number;
            /** Copies Total */
            copies_total: number;
            /** Late Total */
            late_total: number;
            /** Node */
            node: string;
            /** Rows Out Total */
            rows_out_total: number;
            /** State Bytes */
            state_bytes: number | null;
        };
        /**
         * NodeFigures
         * @description Since the pipeline was first started, also through resets; `rate` in rows out per second, over the last seconds.
         *
         *     `state_bytes`: what the state of a serial operator takes on disk; null for a node that keeps none there.
         */
        NodeFigures: {
            /** Rate */
            rate: number;
            /** Rows Bad */
            rows_bad: number;
            /** Rows In */
            rows_in: number;
            /** Rows Late */
            rows_late: number;
            /** Rows Out */
            rows_out: number;
            /** State Bytes */
            state_bytes: number | null;
        };
        /** NodeModel */
        NodeModel: {
            /** Config */
            config: {
                [key: string]: unknown;
            };
            /** Id */
            id: string;
            /** Operator */
            operator: string;
        };
        /** NodeRows */
        NodeRows: {
            /** Columns */
            columns: components["schemas"]["ColumnView"][];
            /** Rows */
            rows: {
                [key: string]: unknown;
            }[];
        };
        /**
         * Notations
         * @description The same pipeline in each notation; null where it cannot be said in one, and then `reasons` says why.
         */
        Notations: {
            /** Python */
            python: string | null;
            /** Reasons */
            reasons: {
                [key: string]: string;
            };
            /** Sql */
            sql: string | null;
            /** Text */
            text: string | null;
        };
        /**
         * NoticeView
         * @description What is wrong with the machine or with Spark now.
         */
        NoticeView: {
            /** Code */
            code: string;
            /** Hint */
            hint: string | null;
            /** Message */
            message: string;
            /** Since Ms */
            since_ms: number;
        };
        /**
         * OperatorList
         * @description `problems`: one sentence for each plugin that could not be loaded.
         */
        OperatorList: {
            /** Operators */
            operators: components["schemas"]["OperatorView"][];
            /** Problems */
            problems: string[];
        };
        /**
         * OperatorView
         * @description `settings` is the JSON schema of the config: title, description, default, enum, and `format` as a form's hint.
         */
        OperatorView: {
            /** Example */
            example: string;
            /** Guarantees */
            guarantees: string;
            /** Inputs */
            inputs: components["schemas"]["PortView"][];
            /**
             * Kind
             * @enum {string}
             */
            kind: "source" | "relational" | "serial" | "sink";
            /** Name */
            name: string;
            /** Outputs */
            outputs: components["schemas"]["PortView"][];
            /** Positional */
            positional: string | null;
            /** Settings */
            settings: {
                [key: string]: unknown;
            };
            /** Stateful */
            stateful: boolean;
            /** Summary */
            summary: string;
            /** Title */
            title: string;
        };
        /** PartitionView */
        PartitionView: {
            /** Bytes */
            bytes: number | null;
            /** End Offset */
            end_offset: number;
            /** Id */
            id: number;
            /** Segments */
            segments: number | null;
            /** Start Offset */
            start_offset: number;
        };
        /**
         * PipelineBody
         * @description A pipeline in one of its notations. A name given here wins over the one in the notation.
         */
        PipelineBody: {
            document?: components["schemas"]["DocumentModel"] | null;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /** Sql */
            sql?: string | null;
            /** Text */
            text?: string | null;
        };
        /**
         * PipelineDraft
         * @description `changes`: how many, against the running or else the latest version.
         */
        PipelineDraft: {
            /** Changes */
            changes: number;
            /** Revision */
            revision: number;
        };
        /**
         * PipelineEntry
         * @description `latest` is null for a pipeline that is only a draft yet; `runs_next` is the version that a start takes.
         */
        PipelineEntry: {
            draft: components["schemas"]["PipelineDraft"] | null;
            job: components["schemas"]["PipelineJob"] | null;
            latest: components["schemas"]["VersionInfoView"] | null;
            /** Name */
            name: string;
            /** Runs Next */
            runs_next: number | null;
        };
        /** PipelineJob */
        PipelineJob: {
            /** Paused By */
            paused_by: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "starting" | "running" | "paused" | "stopping" | "stopped" | "failed";
            /** Version */
            version: number | null;
        };
        /** PipelineList */
        PipelineList: {
            /** Pipelines */
            pipelines: components["schemas"]["PipelineEntry"][];
        };
        /** PipelineView */
        PipelineView: {
            document: components["schemas"]["DocumentModel"];
            /** Layout */
            layout: {
                [key: string]: components["schemas"]["Position"];
            };
            notations: components["schemas"]["Notations"];
            version: components["schemas"]["VersionInfoView"];
        };
        /**
         * PlaceView
         * @description Line and column count from 1; `marked` is the line with a mark under the spot.
         */
        PlaceView: {
            /** Column */
            column: number;
            /** Line */
            line: number;
            /** Marked */
            marked: string;
        };
        /** PortView */
        PortView: {
            /** Name */
            name: string;
            /** Required */
            required: boolean;
            /** Summary */
            summary: string;
        };
        /** Position */
        Position: {
            /** X */
            x: number;
            /** Y */
            y: number;
        };
        /**
         * ProblemDetails
         * @description Problem details (RFC 9457). Only the fields that apply are there.
         */
        ProblemDetails: {
            /** Code */
            code: string;
            /** @description Of a conflict about a draft: what is there now. */
            current?: components["schemas"]["DraftView"] | null;
            /** Detail */
            detail: string;
            /** Domain */
            domain?: string | null;
            /** Hint */
            hint?: string | null;
            /** Message */
            message: string;
            /** Node */
            node?: string | null;
            place?: components["schemas"]["PlaceView"] | null;
            /** Problems */
            problems?: components["schemas"]["ProblemView"][] | null;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /** Type */
            type: string;
            /** Valid */
            valid?: string[] | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ProblemView
         * @description One fault of a pipeline; `node` and `setting` say where.
         */
        ProblemView: {
            /** Code */
            code: string;
            /** Hint */
            hint: string | null;
            /** Message */
            message: string;
            /** Node */
            node: string | null;
            /** Setting */
            setting: string | null;
        };
        /** ProducedView */
        ProducedView: {
            /** Offset */
            offset: number;
            /** Partition */
            partition: number;
            /** Topic */
            topic: string;
        };
        /**
         * QueryView
         * @description One streaming query. `lag` is by topic partition, `signals` by what became of them; `rows_per_second` left its
         *     sources over the last seconds.
         */
        QueryView: {
            /** Batch */
            batch: number;
            /** Batch Ms */
            batch_ms: number;
            /** Lag */
            lag: {
                [key: string]: number;
            };
            /** Name */
            name: string;
            /** Nodes */
            nodes: components["schemas"]["NodeCountView"][];
            /** Rows Per Second */
            rows_per_second: number;
            /** Signals */
            signals: {
                [key: string]: number;
            };
        };
        /**
         * ReadyView
         * @description `reason`: why not; `notices`: what is wrong with the machine or with Spark now.
         */
        ReadyView: {
            /** Notices */
            notices: string[];
            /** Ready */
            ready: boolean;
            /** Reason */
            reason: string | null;
        };
        /**
         * RegisteredSchema
         * @description `references` only where there are some, `maxId` only where it was asked for.
         */
        RegisteredSchema: {
            /** Maxid */
            maxId?: number | null;
            /** References */
            references?: components["schemas"]["SchemaReference"][] | null;
            /** Schema */
            schema: string;
            /**
             * Schematype
             * @enum {string}
             */
            schemaType: "AVRO" | "JSON" | "PROTOBUF";
        };
        /**
         * RegisteredVersion
         * @description One version of a subject.
         */
        RegisteredVersion: {
            /** Id */
            id: number;
            /** Maxid */
            maxId?: number | null;
            /** References */
            references?: components["schemas"]["SchemaReference"][] | null;
            /** Schema */
            schema: string;
            /**
             * Schematype
             * @enum {string}
             */
            schemaType: "AVRO" | "JSON" | "PROTOBUF";
            /** Subject */
            subject: string;
            /** Version */
            version: number;
        };
        /**
         * RegistryFailure
         * @description Errors as clients of schema registries read them; `error_code` begins with the status.
         */
        RegistryFailure: {
            /** Error Code */
            error_code: number;
            /** Message */
            message: string;
        };
        /**
         * RegistryRoot
         * @description Empty: that there is an answer is what clients ask for.
         */
        RegistryRoot: Record<string, never>;
        /**
         * ResetBody
         * @description `to`: earliest, latest, offset:N or timestamp:ISO8601.
         */
        ResetBody: {
            /**
             * Dry Run
             * @default true
             */
            dry_run: boolean;
            /** To */
            to: string;
            /** Topic */
            topic: string;
        };
        /** ResetOffset */
        ResetOffset: {
            /** New */
            new: number;
            /** Old */
            old: number | null;
            /** Partition */
            partition: number;
        };
        /**
         * ResetView
         * @description With `dry_run` nothing was changed.
         */
        ResetView: {
            /** Dry Run */
            dry_run: boolean;
            /** Group */
            group: string;
            /** Offsets */
            offsets: components["schemas"]["ResetOffset"][];
            /** Topic */
            topic: string;
        };
        /**
         * RowError
         * @description A row that an expression failed for, as JSON text, or a record that could not be read; `topic`, `partition` and
         *     `offset` say which record it was, where that is known.
         */
        RowError: {
            /** Node */
            node: string;
            /** Offset */
            offset: number | null;
            /** Partition */
            partition: number | null;
            /** Reason */
            reason: string;
            /** Row */
            row: string | null;
            /** Topic */
            topic: string | null;
        };
        /** RowErrorList */
        RowErrorList: {
            /** Rows */
            rows: components["schemas"]["RowError"][];
        };
        /** RowsView */
        RowsView: {
            /** Rows */
            rows: {
                [key: string]: unknown;
            }[];
        };
        /**
         * RunBody
         * @description A pipeline that becomes a version and runs, instead of the version that runs now.
         */
        RunBody: {
            /**
             * Author
             * @default
             */
            author: string;
            /** Begin */
            begin?: ("latest" | "last-commit" | "earliest") | null;
            /**
             * Confirmed
             * @default false
             */
            confirmed: boolean;
            document?: components["schemas"]["DocumentModel"] | null;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Reset
             * @default false
             */
            reset: boolean;
            /** Sql */
            sql?: string | null;
            /** Text */
            text?: string | null;
            /**
             * Truncate
             * @default false
             */
            truncate: boolean;
        };
        /** RunView */
        RunView: {
            job: components["schemas"]["JobView"];
            version: components["schemas"]["VersionInfoView"];
        };
        /**
         * SampleBody
         * @description An edge, or a node and one of its output ports. `filter` is an SQL condition over the edge's columns.
         */
        SampleBody: {
            edge?: components["schemas"]["EdgeModel"] | null;
            /** Filter */
            filter?: string | null;
            /**
             * Limit
             * @default 50
             */
            limit: number;
            /** Node */
            node?: string | null;
            /**
             * Port
             * @default out
             */
            port: string;
        };
        /**
         * SampleView
         * @description The newest rows on an edge, the newest last. `ranges`: topic → partition → offsets read, [first, after].
         *
         *     `begins_empty`: windows and other state above the edge began with the first of these records.
         */
        SampleView: {
            /** Begins Empty */
            begins_empty: boolean;
            /** Columns */
            columns: components["schemas"]["ColumnView"][];
            /** Ranges */
            ranges: {
                [key: string]: {
                    [key: string]: [
                        number,
                        number
                    ];
                };
            };
            /** Rows */
            rows: {
                [key: string]: unknown;
            }[];
            /** Took Ms */
            took_ms: number;
        };
        /** SaveBody */
        SaveBody: {
            /**
             * Author
             * @default
             */
            author: string;
            document?: components["schemas"]["DocumentModel"] | null;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /**
             * Note
             * @default
             */
            note: string;
            /** Sql */
            sql?: string | null;
            /** Text */
            text?: string | null;
        };
        /**
         * SavedView
         * @description `is_new` is false when the latest version means the same already.
         */
        SavedView: {
            /** Is New */
            is_new: boolean;
            version: components["schemas"]["VersionInfoView"];
        };
        /**
         * SchemaBody
         * @description Clients send more than is used here, and newer ones more than that; what has a meaning is refused by name.
         */
        SchemaBody: {
            /** Id */
            id?: number | null;
            /** Metadata */
            metadata?: unknown;
            /** References */
            references?: components["schemas"]["SchemaReference"][] | null;
            /** Ruleset */
            ruleSet?: unknown;
            /** Schema */
            schema: string;
            /** Schematagstoadd */
            schemaTagsToAdd?: unknown;
            /** Schematagstoremove */
            schemaTagsToRemove?: unknown;
            /**
             * Schematype
             * @default AVRO
             */
            schemaType: string | null;
            /** Version */
            version?: number | null;
        };
        /**
         * SchemaReference
         * @description What another schema is called in this one.
         */
        SchemaReference: {
            /** Name */
            name: string;
            /** Subject */
            subject: string;
            /** Version */
            version: number;
        };
        /** SchemaView */
        SchemaView: {
            /** Columns */
            columns: components["schemas"]["ColumnView"][];
        };
        /** SetLevelView */
        SetLevelView: {
            /** Compatibility */
            compatibility: string;
        };
        /**
         * SignalBody
         * @description For a pipeline, in every topic that it reads, or for all pipelines that read the named topics.
         */
        SignalBody: {
            /**
             * Handling
             * @default once
             * @enum {string}
             */
            handling: "once" | "until_handled" | "always";
            /**
             * Id
             * @description Sent twice under one id, a signal is placed once.
             */
            id?: string | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "start" | "pause" | "resume" | "stop" | "close_window" | "advance_watermark" | "update_parameters" | "refresh_state" | "snapshot_metrics" | "custom" | "withdraw";
            /**
             * Node
             * @description The operator it is for; all, if not given.
             */
            node?: string | null;
            /** Parameters */
            parameters?: {
                [key: string]: unknown;
            };
            /** Pipeline */
            pipeline?: string | null;
            /** Topics */
            topics?: string[];
        };
        /**
         * SignalList
         * @description In the order of their places.
         */
        SignalList: {
            /** Signals */
            signals: components["schemas"]["SignalView"][];
        };
        /**
         * SignalView
         * @description `cut`: topic → partition → offset; rows below it are before the signal. `number` grows with each one placed.
         */
        SignalView: {
            /** Cut */
            cut: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /**
             * Handling
             * @enum {string}
             */
            handling: "once" | "until_handled" | "always";
            /** Id */
            id: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "start" | "pause" | "resume" | "stop" | "close_window" | "advance_watermark" | "update_parameters" | "refresh_state" | "snapshot_metrics" | "custom" | "withdraw";
            /** Node */
            node: string | null;
            /** Number */
            number: number;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /** Pipeline */
            pipeline: string | null;
            /** Reason */
            reason: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "requested" | "placed" | "refused";
            /** Time Ms */
            time_ms: number;
            /** Topics */
            topics: string[];
        };
        /**
         * SqlBody
         * @description Statements that ask or steer, with definitions before an EXPLAIN.
         */
        SqlBody: {
            /** Sql */
            sql: string;
        };
        /** StartBody */
        StartBody: {
            /** Begin */
            begin?: ("latest" | "last-commit" | "earliest") | null;
            /**
             * Confirmed
             * @default false
             */
            confirmed: boolean;
            /**
             * Reset
             * @default false
             */
            reset: boolean;
            /**
             * Truncate
             * @default false
             */
            truncate: boolean;
            /**
             * Version
             * @description Default: the version that ran last, or the newest if none ran.
             */
            version?: number | null;
        };
        /** StatementList */
        StatementList: {
            /** Results */
            results: components["schemas"]["StatementView"][];
        };
        /**
         * StatementView
         * @description A small table; `statement` is the one that it answers, in the one notation.
         */
        StatementView: {
            /** Columns */
            columns: string[];
            /** Rows */
            rows: (string | number | boolean | null)[][];
            /** Statement */
            statement: string;
        };
        /** SubjectVersion */
        SubjectVersion: {
            /** Subject */
            subject: string;
            /** Version */
            version: number;
        };
        /** TemplateList */
        TemplateList: {
            /** Templates */
            templates: components["schemas"]["TemplateView"][];
        };
        /** TemplateView */
        TemplateView: {
            document: components["schemas"]["DocumentModel"];
            /** Layout */
            layout: {
                [key: string]: components["schemas"]["Position"];
            };
            /** Name */
            name: string;
            /** Summary */
            summary: string;
            /** Title */
            title: string;
        };
        /**
         * TestRunBody
         * @description `inputs` are rows by source node; a source without them reads the newest of its topic.
         */
        TestRunBody: {
            document?: components["schemas"]["DocumentModel"] | null;
            /** Inputs */
            inputs?: {
                [key: string]: {
                    [key: string]: unknown;
                }[];
            };
            /**
             * Limit
             * @default 50
             */
            limit: number;
            /**
             * Name
             * @description The pipeline's name; text notation has none of its own.
             */
            name?: string | null;
            /** Sql */
            sql?: string | null;
            /** Text */
            text?: string | null;
        };
        /**
         * TestRunView
         * @description Rows that leave each node, for the first rows of its sources.
         */
        TestRunView: {
            /** Nodes */
            nodes: {
                [key: string]: components["schemas"]["NodeRows"];
            };
            /** Took Ms */
            took_ms: number;
        };
        /** TopicBody */
        TopicBody: {
            /** Config */
            config?: {
                [key: string]: string;
            };
            /** Name */
            name: string;
            /**
             * Partitions
             * @default 1
             */
            partitions: number;
        };
        /**
         * TopicConfigBody
         * @description Settings to change; null puts one back to its default. Partitions can only become more.
         */
        TopicConfigBody: {
            /** Config */
            config?: {
                [key: string]: string | null;
            };
            /** Partitions */
            partitions?: number | null;
        };
        /**
         * TopicEntry
         * @description `messages` counts offsets between start and end; `bytes` is null for a broker on another machine.
         */
        TopicEntry: {
            /** Bytes */
            bytes: number | null;
            /** Is Internal */
            is_internal: boolean;
            /** Messages */
            messages: number;
            /** Name */
            name: string;
            /** Partitions */
            partitions: number;
        };
        /** TopicList */
        TopicList: {
            /** Topics */
            topics: components["schemas"]["TopicEntry"][];
        };
        /** TopicSetting */
        TopicSetting: {
            /** Is Default */
            is_default: boolean;
            /** Is Read Only */
            is_read_only: boolean;
            /** Name */
            name: string;
            /** Value */
            value: string | null;
        };
        /** TopicView */
        TopicView: {
            /** Bytes */
            bytes: number | null;
            /** Config */
            config: components["schemas"]["TopicSetting"][];
            /** Is Internal */
            is_internal: boolean;
            /** Messages */
            messages: number;
            /** Name */
            name: string;
            /** Partitions */
            partitions: components["schemas"]["PartitionView"][];
        };
        /** UseTemplateBody */
        UseTemplateBody: {
            /**
             * As
             * @description The name of the new pipeline.
             */
            as: string;
        };
        /**
         * VersionInfoView
         * @description `ran_at`: when it was last started; null for a version that never ran.
         */
        VersionInfoView: {
            /** Author */
            author: string;
            /** Content Hash */
            content_hash: string;
            /** Note */
            note: string;
            /** Number */
            number: number;
            /** Pipeline */
            pipeline: string;
            /** Ran At */
            ran_at: string | null;
            /**
             * Saved At
             * Format: date-time
             */
            saved_at: string;
        };
        /**
         * VersionList
         * @description Oldest first.
         */
        VersionList: {
            /** Versions */
            versions: components["schemas"]["VersionInfoView"][];
        };
    };
    responses: {
        /** @description A defect of Headrace, or damaged data: what, and where to look. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The request is wrong: what, where, and what would be valid. */
        Problem400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The token is missing or wrong. */
        Problem401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description A page of another origin calls, or a change with a session does not name its origin. */
        Problem403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description What the request names is not there. */
        Problem404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description It does not fit what is there now. */
        Problem409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The body is too large. */
        Problem413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description The body is not JSON. */
        Problem415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description This host name is not served here. */
        Problem421: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description Too many requests a second; Retry-After says how long to wait. */
        Problem429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description Spark, the broker or the server itself cannot answer now: why, and what is done about it. */
        Problem503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
            };
        };
        /** @description A defect of Headrace, or damaged data: what, and where to look. */
        Registry: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
        /** @description The request is wrong: what, where, and what would be valid. */
        Registry400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
        /** @description What the request names is not there. */
        Registry404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
        /** @description The schema is not compatible. */
        Registry409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
        /** @description The request is wrong. */
        Registry422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
        /** @description Spark, the broker or the server itself cannot answer now: why, and what is done about it. */
        Registry503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ProblemDetails"];
                "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryFailure"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    run_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    check_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    follow_events: {
        parameters: {
            query?: {
                pipeline?: string | null;
            };
            header?: {
                "last-event-id"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events; see the summary. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["JobEvent"] | components["schemas"]["MetricsTick"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_groups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    show_group: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    reset_group: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResetView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_jobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    show_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    newest_errors: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                name: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RowErrorList"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_events: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventList"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    preview_node: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                name: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RowsView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    sample_edge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SampleBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SampleView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is over. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_operators: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    show_operator: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_pipelines: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    save_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    show_pipeline: {
        parameters: {
            query?: {
                version?: number | null;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PipelineView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    delete_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    deploy_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeployBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    diff_versions: {
        parameters: {
            query: {
                new: string;
                old: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    read_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    write_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DraftBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    discard_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    write_draft_text: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                notation: "sql" | "text";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DraftTextBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftTexts"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    start_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    stop_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionList"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    restore_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpectedBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    validate_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PipelineBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    registry_root: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegistryRoot"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_compare_all: {
        parameters: {
            query?: {
                verbose?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchemaBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["Comparison"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_compare: {
        parameters: {
            query?: {
                verbose?: boolean;
            };
            header?: never;
            path: {
                subject: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchemaBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["Comparison"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_level: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["LevelView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_set_level: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LevelBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["SetLevelView"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_unset_level: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["LevelView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_subject_level: {
        parameters: {
            query?: {
                defaultToGlobal?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["LevelView"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_set_subject_level: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LevelBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["SetLevelView"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_unset_subject_level: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["LevelView"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_contexts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": string[];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_mode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_set_mode: {
        parameters: {
            query?: {
                force?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModeBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_unset_mode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_subject_mode: {
        parameters: {
            query?: {
                defaultToGlobal?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_set_subject_mode: {
        parameters: {
            query?: {
                force?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModeBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_unset_subject_mode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["ModeBody"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_schemas: {
        parameters: {
            query?: {
                deleted?: boolean;
                latestOnly?: boolean;
                limit?: number;
                offset?: number;
                subjectPrefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegisteredVersion"][];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_schema_by_id: {
        parameters: {
            query?: {
                fetchMaxId?: boolean;
                format?: string;
            };
            header?: never;
            path: {
                schema_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegisteredSchema"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_schema_text: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schema_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": unknown;
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_subjects_of: {
        parameters: {
            query?: {
                deleted?: boolean;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                schema_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": string[];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_versions_of: {
        parameters: {
            query?: {
                deleted?: boolean;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                schema_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["SubjectVersion"][];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_kinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": string[];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_subjects: {
        parameters: {
            query?: {
                deleted?: boolean;
                deletedOnly?: boolean;
                limit?: number;
                offset?: number;
                subjectPrefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": string[];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_find: {
        parameters: {
            query?: {
                deleted?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchemaBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegisteredVersion"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_delete_subject: {
        parameters: {
            query?: {
                permanent?: boolean;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": number[];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_versions: {
        parameters: {
            query?: {
                deleted?: boolean;
                deletedOnly?: boolean;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": number[];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_register: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subject: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchemaBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegisteredVersion"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_entry: {
        parameters: {
            query?: {
                deleted?: boolean;
                format?: string;
            };
            header?: never;
            path: {
                subject: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": components["schemas"]["RegisteredVersion"];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_delete_version: {
        parameters: {
            query?: {
                permanent?: boolean;
            };
            header?: never;
            path: {
                subject: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": number;
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            409: components["responses"]["Registry409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_referenced_by: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                subject: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": number[];
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    registry_entry_text: {
        parameters: {
            query?: {
                deleted?: boolean;
            };
            header?: never;
            path: {
                subject: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.schemaregistry.v1+json": unknown;
                };
            };
            400: components["responses"]["Registry400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Registry404"];
            421: components["responses"]["Problem421"];
            422: components["responses"]["Registry422"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Registry503"];
            default: components["responses"]["Registry"];
        };
    };
    run_pipeline: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_signals: {
        parameters: {
            query?: {
                limit?: number;
                pipeline?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalList"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    send_signal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignalBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    run_statements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SqlBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatementList"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    look: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookBody"];
            };
        };
        responses: {
            /** @description A line of JSON for every micro-batch; see the summary. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LookLine"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_templates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    use_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UseTemplateBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    test_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestRunBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestRunView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    list_topics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    create_topic: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    show_topic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    delete_topic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    alter_topic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicConfigBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    browse_messages: {
        parameters: {
            query?: {
                cursor?: string | null;
                filter?: string | null;
                format?: "auto" | "json" | "text" | "base64";
                from?: string;
                limit?: number;
                partition?: number | null;
            };
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    produce_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                topic: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProducedView"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            409: components["responses"]["Problem409"];
            413: components["responses"]["Problem413"];
            415: components["responses"]["Problem415"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthView"];
                };
            };
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            default: components["responses"]["Problem"];
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            503: components["responses"]["Problem503"];
            default: components["responses"]["Problem"];
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            421: components["responses"]["Problem421"];
            429: components["responses"]["Problem429"];
            /** @description Not yet, or not now. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
}
