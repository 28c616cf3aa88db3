import { casesNoticeChanges } from "./changed-cases.ts";

casesNoticeChanges({ seed: 1 });
