import type { FieldValidation } from '../machinery/list-options.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { StructType } from '../machinery/type-model.js';
import { asWarnings, fieldFindings, type Positions } from '../schema/field-findings.js';
import { mergeRepeated } from '../schema/repeated-fields.js';

/** A decoded body, and what is to be said of its fields that are unknown or stand twice. */
export interface Submission {
  readonly value: unknown;
  readonly fields: FieldReport;
  /** The value with all places of fields that stand twice, where who has types makes something of them. */
  readonly repeated?: { readonly value: JsonValue; readonly mark: string } | undefined;
}

/** The value for an object of the type: without one, of what stands twice the last place counts. */
export function valueFor({ value, repeated }: Submission, type: StructType | undefined): unknown {
  return repeated && type ? mergeRepeated(repeated.value, type, repeated.mark) : value;
}

/** One for each request: a change that is tried again finds the same again, and says it once. */
export class FieldReport {
  constructor(
    readonly level: FieldValidation,
    /** As the decoder gives them. */
    private readonly duplicates: readonly string[],
    /** Where fields stand in the body, where that can be told. */
    private readonly positions?: Positions,
  ) {}

  /** The findings for which the request is refused: none unless it is to be strict. Others become warnings. */
  refusals(unknownFields: readonly string[], warnings: string[]): string[] {
    if (this.level === 'Ignore' || this.duplicates.length + unknownFields.length === 0) return [];
    const findings = fieldFindings(this.duplicates, unknownFields, this.positions);
    if (this.level === 'Strict') return findings;
    const told = new Set(warnings);
    for (const finding of asWarnings(findings)) {
      if (told.has(finding)) continue;
      told.add(finding);
      warnings.push(finding);
    }
    return [];
  }
}
