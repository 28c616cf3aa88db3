import { casesNoticeChanges } from "../conformance/changed-cases.ts";

casesNoticeChanges("all");
