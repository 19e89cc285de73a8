//! Which test holds which row of the list of hostile inputs and faults. Every row has at least one, and every test named
//! here exists.

use std::collections::BTreeSet;

const HERE: &str = "tests/hostile/main.rs";
const PDF: &str = "tests/hostile/pdf.rs";
const EDGES: &str = "tests/hostile/edges.rs";
const ARCHIVE: &str = "common/document/src/archive_tests.rs";
const SHEETS: &str = "functions/parse-xlsx/tests/hostile.rs";
const EVENTS: &str = "functions/profiler/tests/events.rs";
const DELIVERY: &str = "common/runtime/src/delivery/tests.rs";
const SHELL: &str = "common/runtime/src/http/tests.rs";
const PUBLISH: &str = "functions/publisher/tests/publish.rs";
const DEATHS: &str = "functions/publisher/tests/faults.rs";
const AWS: &str = "common/store-aws/src/faults.rs";
const GUARD: &str = "common/outbound/tests/guard.rs";

/// Row, file, test.
const ROWS: &[(u8, &str, &str)] = &[
    (1, HERE, "row_1_an_empty_object"),
    (2, HERE, "row_2_one_byte_or_only_nuls"),
    (3, HERE, "row_3_a_lying_extension"),
    (4, HERE, "row_4_a_polyglot_is_one_format"),
    (5, HERE, "row_5_larger_than_the_limit"),
    (5, "functions/local/tests/serve.rs", "signed_addresses_open_nothing_else"),
    (6, HERE, "row_6_a_bomb_stops_while_streaming"),
    (6, ARCHIVE, "row_6_the_total_counts_every_part_and_every_reading"),
    (7, ARCHIVE, "row_7_overlapping_entries_are_counted_on_real_bytes"),
    (7, ARCHIVE, "row_7_false_sizes_change_nothing"),
    (8, HERE, "rows_8_9_10_entries"),
    (8, ARCHIVE, "row_8_entries_are_counted_before_the_directory_is_read"),
    (9, ARCHIVE, "row_9_names_that_lead_outside_are_not_parts"),
    (10, ARCHIVE, "row_10_a_symbolic_link_is_not_followed"),
    (11, HERE, "row_11_entities_are_not_expanded"),
    (12, HERE, "row_12_a_hundred_thousand_levels"),
    (13, HERE, "row_13_a_million_attributes"),
    (14, HERE, "row_14_a_style_chain_that_bites_its_tail"),
    (15, HERE, "row_15_tables_fifty_deep_and_a_span_without_end"),
    (16, SHEETS, "row_16_two_far_corners_are_two_cells"),
    (17, SHEETS, "row_17_addresses_outside_and_dimensions_that_lie"),
    (18, SHEETS, "row_18_links_and_formulas_are_not_followed"),
    (18, SHEETS, "row_18_two_date_systems"),
    (19, SHEETS, "row_19_a_text_that_is_not_there_marks_its_cell"),
    (20, PDF, "row_20_loops_and_a_tree_of_pages_that_holds_itself"),
    (21, PDF, "row_21_four_million_arrays_in_one_another"),
    (22, PDF, "row_22_a_bomb_of_stacked_filters"),
    (23, PDF, "rows_23_and_25_broken_and_cut_off"),
    (24, PDF, "row_24_a_password"),
    (25, PDF, "rows_23_and_25_broken_and_cut_off"),
    (25, "tests/torture/sweep.rs", "files_cut_at_any_byte_are_read_or_refused"),
    (26, PDF, "row_26_pictures_only"),
    (27, PDF, "row_27_nothing_in_it_is_run"),
    (28, PDF, "row_28_more_pages_than_are_read"),
    (29, "common/office/tests/slides.rs", "two_thousand_slides_and_groups_in_groups"),
    (30, HERE, "row_30_a_picture_of_a_size_that_only_its_header_has"),
    (31, HERE, "row_31_a_picture_cut_off"),
    (32, SHEETS, "row_32_compound_files_that_turn_in_circles"),
    (32, "common/office/tests/binary_slides.rs", "a_chain_of_sectors_that_bites_its_tail_ends"),
    (33, HERE, "row_33_text_in_any_encoding"),
    (34, HERE, "row_34_markdown_nested_a_million_times"),
    (35, HERE, "row_35_nothing_is_fetched"),
    (36, HERE, "row_36_scripts_stay_out"),
    (37, HERE, "row_37_long_lines_many_headings_and_jumps"),
    (38, HERE, "row_38_controls_in_names_and_headings"),
    (39, HERE, "row_39_orders_in_a_document_are_only_its_text"),
    (39, "common/retrieval/tests/agentic.rs", "orders_in_a_document_change_nothing_but_its_own_presence"),
    (40, GUARD, "private_forms_are_refused_before_any_connection"),
    (40, GUARD, "a_name_is_asked_once_and_the_connection_goes_where_it_was_checked"),
    (40, GUARD, "every_redirect_is_checked"),
    (40, GUARD, "size_time_and_status_are_bounded"),
    (41, "tests/pipeline/delivery.rs", "five_deliveries_are_one"),
    (41, PUBLISH, "five_deliveries_of_one_message_are_one_publication_and_four_skips"),
    (41, DELIVERY, "five_deliveries_at_once_do_the_work_once"),
    (42, "tests/pipeline/delivery.rs", "a_late_old_event_changes_nothing"),
    (42, EVENTS, "an_older_event_after_a_newer_one_is_skipped"),
    (43, PUBLISH, "a_delete_while_parsing_wins"),
    (44, EVENTS, "keys_are_decoded_once_and_names_kept"),
    (44, EVENTS, "test_events_removals_and_foreign_keys_are_acknowledged_and_change_nothing"),
    (45, DELIVERY, "one_poison_message_harms_no_other"),
    (45, EVENTS, "poison_comes_again_and_its_neighbour_is_done"),
    (46, DELIVERY, "a_process_that_dies_each_time_fails_the_job_as_crashed"),
    (46, "functions/local/tests/faults.rs", "a_parser_that_crashes_or_hangs_fails_its_own_document_only"),
    (47, DEATHS, "a_death_at_any_step_leaves_old_or_new_and_a_retry_completes"),
    (47, DEATHS, "what_a_crash_left_undone_is_done_by_the_next_publication_of_anything"),
    (48, AWS, "unprocessed_writes_are_sent_again"),
    (48, AWS, "a_throttled_table_is_unavailable"),
    (48, DEATHS, "eight_publishers_at_once_lose_nothing_and_do_nothing_twice"),
    (49, AWS, "a_read_that_breaks_off_goes_on_where_it_ended"),
    (49, AWS, "bytes_whose_checksum_does_not_fit_are_read_again"),
    (50, "tests/pipeline/delivery.rs", "a_late_old_event_changes_nothing"),
    (50, PUBLISH, "equal_content_in_two_documents_stays_in_both_and_knows_the_oldest"),
    (51, "common/index/tests/splits.rs", "a_split_that_cannot_be_read_is_reported_and_others_answer"),
    (51, "common/retrieval/tests/classic.rs", "a_lost_part_of_the_index_is_said_to_be_missing_and_the_others_answer"),
    (51, "functions/local/tests/repair.rs", "a_damaged_or_lost_index_is_built_again"),
    (52, "functions/search/tests/http.rs", "hostile_requests_are_refused_or_answered_in_bounded_time"),
    (52, "common/retrieval/tests/classic.rs", "hostile_queries_take_bounded_time"),
    (53, EDGES, "row_53_a_planner_of_nonsense_of_loops_and_of_silence"),
    (53, "common/retrieval/tests/with_model.rs", "no_failure_of_a_model_costs_evidence"),
    (54, "functions/upload/tests/api/keys.rs", "absent_malformed_and_foreign_ids_are_one_answer"),
    (54, "functions/search/tests/http.rs", "what_is_another_owners_is_absent"),
    (55, "functions/local/tests/serve.rs", "signed_addresses_open_nothing_else"),
    (55, "common/store-local/tests/own.rs", "an_address_takes_the_same_bytes_again_but_no_others"),
    (56, SHELL, "keys_open_their_owners_data_within_their_scopes_until_they_end"),
    (56, SHELL, "a_key_revoked_elsewhere_is_refused_within_a_minute"),
    (57, "functions/notifier/tests/delivery.rs", "a_private_address_is_never_called_and_not_tried_again"),
    (57, "functions/notifier/tests/delivery.rs", "a_webhook_is_delivered_once_with_its_signature"),
    (57, GUARD, "size_time_and_status_are_bounded"),
    (58, EDGES, "row_58_values_that_a_spreadsheet_would_run"),
    (59, EDGES, "row_59_times_that_are_none"),
    (59, "common/model/src/time.rs", "years_outside_the_range_are_clamped"),
    (59, "functions/local/tests/commands.rs", "a_clock_that_was_put_back_makes_no_source_older"),
    (60, EDGES, "row_60_no_network_and_no_credentials"),
];

#[test]
fn every_row_has_its_tests_and_they_exist() {
    let rows: BTreeSet<u8> = ROWS.iter().map(|(row, _, _)| *row).collect();
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), (1..=60).collect::<Vec<u8>>());
    for (row, file, test) in ROWS {
        let text = std::fs::read_to_string(quarry_tests::repository().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(text.contains(&format!("fn {test}()")), "row {row}: {file} has no test {test}");
    }
}
