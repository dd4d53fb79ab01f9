import { livingPlan } from "../e2e/living.ts";

livingPlan("default", false);
livingPlan("default", true);
livingPlan("auto", true);
