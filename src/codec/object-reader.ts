import type { ProtobufReader } from '../std/protobuf-reader.js';
import type { ValueBudget } from './value-budget.js';

/** Reads the message of an object. */
export type ObjectReader = ProtobufReader<ObjectDecoding>;

interface ObjectDecoding {
  readonly values: ValueBudget;
  /** Collects the fields that a message does not have; undefined if the caller does not want to know them. */
  readonly unknownFields?: string[] | undefined;
}
