import type { FieldValidation } from '../../machinery/write-options.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import type { StructType } from '../../machinery/type-model.js';
import { asWarnings, fieldFindings, type Positions } from '../../typed/field-findings.js';
import { mergeRepeated } from '../../typed/repeated-fields.js';

/** A decoded request body, with its unknown and duplicate fields. */
export interface Submission {
  readonly value: unknown;
  readonly fields: FieldReport;
  /** The value with every occurrence of duplicate fields marked, for typed kinds, which merge them. */
  readonly repeated?: { readonly value: JsonValue; readonly mark: string } | undefined;
}

/** Returns the value for an object of the type. Without a type the last of several duplicate fields wins. */
export function valueFor({ value, repeated }: Submission, type: StructType | undefined): unknown {
  return repeated && type ? mergeRepeated(repeated.value, type, repeated.mark) : value;
}

/**
 * Applies fieldValidation to unknown and duplicate fields. One instance per request, so that retries do not repeat
 * warnings.
 */
export class FieldReport {
  constructor(
    readonly level: FieldValidation,
    /** Duplicate fields, as the decoder reports them. */
    private readonly duplicates: readonly string[],
    /** Positions of fields in the body, if the encoding has them. */
    private readonly positions?: Positions,
  ) {}

  /** Returns the errors for fieldValidation Strict; for Warn adds warnings and returns none. */
  refusals(unknownFields: readonly string[], warnings: string[]): string[] {
    if (this.level === 'Ignore' || this.duplicates.length + unknownFields.length === 0) return [];
    const findings = fieldFindings(this.duplicates, unknownFields, this.positions);
    if (this.level === 'Strict') return findings;
    const sent = new Set(warnings);
    for (const finding of asWarnings(findings)) {
      if (sent.has(finding)) continue;
      sent.add(finding);
      warnings.push(finding);
    }
    return [];
  }
}
