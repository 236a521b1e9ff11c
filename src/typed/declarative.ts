import { boundedErrors } from '../machinery/error-budget.js';
import type { FieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { FieldType, StructType } from '../machinery/type-model.js';
import {
  checkedField,
  checkOf,
  isSame,
  membersOf,
  type Check,
  type Checked,
  type Subject,
  type Surroundings,
} from './declared-checks.js';
import { parseRule, stabilities, staged, type Stability } from './declared-rule.js';
import { structChecks, type StructCheck } from './declared-unions.js';
import { Reach } from './reach.js';
import { isUnset } from './unset.js';

/**
 * Declarative validation: rules declared on the types. On updates only changed values are validated (ratcheting), so
 * that new rules do not block existing objects.
 */
export interface DeclaredError extends FieldError {
  /** The rule: `maxItems`, `format=k8s-short-name`; empty for rules about presence. */
  readonly origin: string;
  readonly stability: Stability;
}

export interface DeclarativeOptions {
  /** The old object of an update. */
  readonly old?: JsonObject | undefined;
  /** The least stable rules to apply; alpha and beta rules duplicate handwritten validation. */
  readonly stability: Stability;
  readonly isEnabled: (gate: string) => boolean;
  /** Prefix that names of extended resources must not have: `kubernetes.io/`. */
  readonly ownResourcePrefix: string;
  /** Path of the object; '' for a whole one. */
  readonly at?: string | undefined;
}

/** The object must be conformed, and of the same version as the old one. */
export function declarativeErrors(object: JsonObject, type: StructType, options: DeclarativeOptions): DeclaredError[] {
  const plans = plansOf[options.stability];
  if (!plans.reach.below(type)) return [];
  const { old, at = '', isEnabled, ownResourcePrefix } = options;
  const walk = new Walk(plans, { isUpdate: old !== undefined, isEnabled, ownResourcePrefix });
  const found = boundedErrors(() => {
    walk.struct(type, { value: object, old, hasOld: old !== undefined, at });
    return walk.errors;
  });
  if (found === walk.errors) return walk.errors;
  // The list was cut at its limit: the origin of each error is unknown.
  return found.map((error) => ({ ...error, origin: '', stability: options.stability }));
}

interface StagedCheck extends Check {
  readonly stability: Stability;
}
interface FieldPlan {
  readonly name: string;
  readonly checked: Checked;
  readonly first: readonly StagedCheck[];
  readonly rest: readonly StagedCheck[];
  readonly hasMore: boolean;
}
interface StructPlan {
  readonly checks: readonly StructCheck[];
  readonly fields: readonly FieldPlan[];
}

/** Compiled rules of types, up to a stability. */
class Plans {
  readonly reach = new Reach((type) => [...type.byName.values()].some(({ rules }) => this.counting(rules).length > 0));
  private readonly plans = new WeakMap<StructType, StructPlan>();

  constructor(private readonly stability: Stability) {}

  of(type: StructType): StructPlan {
    let plan = this.plans.get(type);
    if (plan === undefined) this.plans.set(type, (plan = this.make(type)));
    return plan;
  }

  private make(type: StructType): StructPlan {
    const fields = [...type.byName.values()].map((field): FieldPlan => {
      const parsed = this.counting(field.rules);
      const checked = withKeys(checkedField(field), parsed);
      const isCustom = parsed.some(({ rule }) => rule.tag === 'customUnique');
      const checks = parsed
        .filter(({ rule }) => !isCustom || (rule.tag !== 'listType' && rule.tag !== 'unique'))
        .flatMap(({ stability, rule }): StagedCheck[] => {
          const check = checkOf(rule, checked);
          return check ? [{ ...check, stability }] : [];
        });
      return {
        name: field.name,
        checked,
        first: checks.filter(({ isFirst }) => isFirst),
        rest: checks.filter(({ isFirst }) => !isFirst),
        hasMore: this.reach.below(field.type),
      };
    });
    return {
      checks: structChecks(type).filter((check) => this.counts(check.stability)),
      fields: fields.filter(({ first, rest, hasMore }) => first.length > 0 || rest.length > 0 || hasMore),
    };
  }

  private counting(rules: readonly string[]) {
    return rules.map((text) => staged(parseRule(text))).filter(({ stability }) => this.counts(stability));
  }

  private counts(stability: Stability): boolean {
    return stabilities.indexOf(stability) <= stabilities.indexOf(this.stability);
  }
}

/** Adds the keys by which rules of this list tell its items apart. */
function withKeys(checked: Checked, parsed: readonly ReturnType<typeof staged>[]): Checked {
  const unique = parsed.find(({ rule }) => rule.tag === 'unique' || rule.tag === 'listType')?.rule.value;
  if (unique !== 'set' && unique !== 'map') return checked;
  const keys = parsed.filter(({ rule }) => rule.tag === 'listMapKey').map(({ rule }) => rule.value ?? '');
  return { ...checked, identity: { type: unique, keys } };
}

const plansOf: Readonly<Record<Stability, Plans>> = {
  stable: new Plans('stable'),
  beta: new Plans('beta'),
  alpha: new Plans('alpha'),
};

class Walk {
  readonly errors: DeclaredError[] = [];

  constructor(
    private readonly plans: Plans,
    private readonly around: Surroundings,
  ) {}

  struct(type: StructType, subject: Subject): void {
    const { checks, fields } = this.plans.of(type);
    for (const check of checks) this.add(check, check.find(subject, this.around));
    const value = asFields(subject.value);
    const old = asFields(subject.old);
    for (const field of fields) {
      this.field(field, {
        value: value[field.name] as JsonValue | undefined,
        old: old[field.name] as JsonValue | undefined,
        hasOld: subject.hasOld,
        at: subject.at === '' ? field.name : `${subject.at}.${field.name}`,
      });
    }
  }

  private field(plan: FieldPlan, subject: Subject): void {
    if (this.around.isUpdate && isSame(subject)) return;
    let isOver = false;
    for (const check of plan.first) {
      const found = check.find(subject, this.around);
      this.add(check, found);
      isOver ||= found.length > 0 || (check.endsWhenUnset && isUnset(subject.value, plan.checked));
    }
    if (isOver) return;
    for (const check of plan.rest) this.add(check, check.find(subject, this.around));
    if (plan.hasMore) this.below(plan.checked.type, plan.checked, subject);
  }

  private below(type: FieldType, checked: Checked, subject: Subject): void {
    if (subject.value === undefined || subject.value === null) return;
    if (type.form === 'struct') this.struct(type, subject);
    if (type.form !== 'list' && type.form !== 'map') return;
    const item: Checked = { type: type.of, isPointer: false, identity: undefined };
    for (const member of membersOf(subject, checked)) {
      if (!this.around.isUpdate || !isSame(member)) this.below(type.of, item, member);
    }
  }

  private add({ origin, stability }: Pick<StagedCheck, 'origin' | 'stability'>, found: readonly FieldError[]): void {
    for (const error of found) this.errors.push({ ...error, origin, stability });
  }
}
