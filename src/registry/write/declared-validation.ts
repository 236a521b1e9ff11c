import { isCutShort } from '../../machinery/error-budget.js';
import type { FieldError, FieldErrorType } from '../../machinery/field-error.js';
import { immutableDetail } from '../../machinery/immutable.js';
import type { JsonObject, KubeObject } from '../../machinery/kube-object.js';
import type { StructType } from '../../machinery/type-model.js';
import { declarativeErrors, type DeclaredError } from '../../typed/declarative.js';
import { parseRule, staged, type Stability } from '../../typed/declared-rule.js';
import type { Logger } from '../../std/logger.js';

interface DeclaredValidationOptions {
  /** The feature gate DeclarativeValidation: declared rules run beside handwritten ones. */
  readonly isOn: boolean;
  /**
   * The feature gate DeclarativeValidationTakeover: errors of declared beta rules replace those of handwritten rules.
   */
  readonly takesOver: boolean;
  readonly isEnabled: (gate: string) => boolean;
  /** `kubernetes.io/` */
  readonly ownResourcePrefix: string;
  readonly logger: Logger;
}

/** Mismatches are logged once per type and field. Fields depend on what clients send, so the log is bounded. */
const loggedMax = 1000;
/** Fields and details have keys and values of the object, which may be as long as a body. */
const loggedLengthMax = 300;
const shortened = (text: string): string =>
  text.length > loggedLengthMax ? `${text.slice(0, loggedLengthMax)}…` : text;

/**
 * Runs the validation rules that types declare (`+k8s:` tags) beside handwritten validation. Errors of stable declared
 * rules are always returned. Beta and alpha rules are only compared with the handwritten ones: mismatches are logged
 * and counted, and the handwritten errors are returned.
 */
export class DeclaredValidation {
  private found = 0;
  private readonly logged = new Set<string>();

  constructor(private readonly options: DeclaredValidationOptions) {}

  /** The number of errors that only one of the two validations has found. */
  get mismatches(): number {
    return this.found;
  }

  /**
   * Returns the errors for the client: handwritten ones, without those that trusted declared rules replace, then the
   * declared ones.
   */
  mergeErrors(
    type: StructType,
    object: KubeObject,
    old: KubeObject | undefined,
    handwritten: readonly FieldError[],
  ): readonly FieldError[] {
    const { isOn, takesOver, isEnabled, ownResourcePrefix } = this.options;
    // A truncated list of errors already rejects the object; declared rules add nothing.
    if (!isOn || isCutShort(handwritten)) return handwritten;
    const errorsUpTo = (stability: Stability) =>
      declarativeErrors(object as unknown as JsonObject, type, {
        old: old as unknown as JsonObject | undefined,
        stability,
        isEnabled,
        ownResourcePrefix,
      });
    const declared = errorsUpTo('alpha');
    if (declared.length === 0 && handwritten.length === 0) return handwritten;
    const trusted = takesOver ? trustedTakenOver : trustedStable;
    const rules = new RulesByPath(type);
    this.compare(type, rules, handwritten, declared);
    // A truncated list may have lost errors of trusted rules to those of other rules; run the trusted rules alone.
    const answered = isCutShort(declared) ? errorsUpTo(takesOver ? 'beta' : 'stable') : declared;
    const answers = answered.filter((error) => trusted.has(error.stability));
    return [...handwritten.filter((error) => !rules.declare(error, trusted)), ...answers];
  }

  private compare(
    type: StructType,
    rules: RulesByPath,
    handwritten: readonly FieldError[],
    declared: readonly DeclaredError[],
  ): void {
    const keyOf = (error: FieldError) => `${error.type} ${error.field}`;
    const foundHandwritten = new Set(handwritten.map(keyOf));
    for (const error of declared) {
      if (error.stability === 'stable' || foundHandwritten.has(keyOf(error))) continue;
      this.reportMismatch(type, error, 'only the declarative rule rejects');
    }
    const foundDeclared = new Set(declared.map(keyOf));
    for (const error of handwritten) {
      if (foundDeclared.has(keyOf(error)) || !rules.declare(error, experimental)) continue;
      this.reportMismatch(type, error, 'only the handwritten rule rejects');
    }
  }

  private reportMismatch(type: StructType, { field, detail }: FieldError, problem: string): void {
    this.found++;
    const location = shortened(`${type.name} ${withoutItems(field)} ${problem}`);
    if (this.logged.has(location) || this.logged.size >= loggedMax) return;
    this.logged.add(location);
    this.options.logger.warn('declarative and handwritten validation disagree', {
      type: type.name,
      problem,
      field: shortened(field),
      detail: shortened(detail),
    });
  }
}

const experimental: ReadonlySet<Stability> = new Set(['beta', 'alpha']);
const trustedStable: ReadonlySet<Stability> = new Set(['stable']);
const trustedTakenOver: ReadonlySet<Stability> = new Set(['stable', 'beta']);

/** The error type that a rule reports; FieldValueInvalid for all others. */
const findings: Readonly<Record<string, FieldErrorType>> = {
  required: 'FieldValueRequired',
  optional: 'FieldValueRequired',
  enum: 'FieldValueNotSupported',
  maxItems: 'FieldValueTooMany',
  maxLength: 'FieldValueTooLong',
  maxBytes: 'FieldValueTooLong',
  listType: 'FieldValueDuplicate',
  listMapKey: 'FieldValueDuplicate',
  unique: 'FieldValueDuplicate',
  forbidden: 'FieldValueForbidden',
};

type StagedRule = ReturnType<typeof staged>;

/** The rules that a type declares, by field path without list indexes. Parsed once. */
class RulesByPath {
  private readonly known = new Map<string, readonly StagedRule[]>();

  constructor(private readonly type: StructType) {}

  /** True if a rule of one of these stabilities could have found the error. */
  declare(error: FieldError, among: ReadonlySet<Stability>): boolean {
    return this.at(withoutItems(error.field)).some(({ stability, rule }) => {
      // An atomic list is a single value: duplicate items are not an error of the declared rule.
      if (rule.tag === 'listType' && rule.value === 'atomic') return false;
      if (rule.tag === 'immutable' && !error.detail.endsWith(immutableDetail)) return false;
      return among.has(stability) && (findings[rule.tag] ?? 'FieldValueInvalid') === error.type;
    });
  }

  private at(path: string): readonly StagedRule[] {
    let rules = this.known.get(path);
    if (!rules) {
      rules = rulesAt(this.type, path).map((text) => staged(parseRule(text)));
      this.known.set(path, rules);
    }
    return rules;
  }
}

/** `spec.ports[0].name` → `spec.ports.name` */
function withoutItems(path: string): string {
  return path.replace(/\[[^\]]*\]/g, '');
}

/** Returns the rules declared for a field: `spec.ports.name` → the rules of ServicePort.name. */
function rulesAt(type: StructType, path: string): readonly string[] {
  let at = type;
  let rules: readonly string[] = [];
  for (const name of path.split('.')) {
    const field = at.byName.get(name);
    if (!field) return [];
    rules = field.rules;
    let inner = field.type;
    while (inner.form === 'list' || inner.form === 'map') inner = inner.of;
    if (inner.form !== 'struct') return rules;
    at = inner;
  }
  return rules;
}
