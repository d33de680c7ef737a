/** `turnlog/testing`: to try projections without a database, in any test runner. */
export { given } from "./testing/given.ts";
export { projectionContract } from "./testing/projection-contract.ts";
export type { Given, When } from "./testing/given.ts";
export type { TableRows } from "./testing/memory-tables.ts";
export type {
  ContractOptions,
  ProjectionLaw,
} from "./testing/projection-contract.ts";
export type { TestSession } from "./testing/test-log.ts";
