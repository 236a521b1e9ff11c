import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../../machinery/names.js';
import type { Implementation } from '../../check/declarations.js';
import { declare, member } from '../../check/declarations.js';
import type { EvaluateOptions, Outcome, Program } from '../../evaluate/program.js';
import type { CelType } from '../../types.js';
import { structType, types } from '../../types.js';
import type { Value } from '../../values/value.js';
import { CelError, OpaqueValue, orNoSuchOverload } from '../../values/value.js';
import type { Library } from '../library.js';

/**
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`. Evaluations are synchronous, and an
 * authorizer may not be: a check whose answer is not known ends the evaluation, and it begins again when the answer is
 * there. An expression can afford two checks, so that this happens rarely and is cheap.
 */
const { bool, string } = types;
const typeOf = (name: string): CelType => structType(`kubernetes.authorization.${name}`);
export const authorizerType = typeOf('Authorizer');
export const resourceCheckType = typeOf('ResourceCheck');
const pathCheckType = typeOf('PathCheck');
const groupCheckType = typeOf('GroupCheck');
const decisionType = typeOf('Decision');

/** A question to an authorizer. */
export interface AccessCheck {
  readonly verb: string;
  /** Set for what is no resource. */
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
  /** The service account that is asked for instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}
export interface AccessDecision {
  readonly isAllowed: boolean;
  readonly reason: string;
  /** Set if the authorizer failed. */
  readonly error?: string;
}

/** Answers at once, or with undefined if it first has to be asked for (see `evaluateWithAuthorizer`). */
type DecideAccess = (check: AccessCheck) => AccessDecision | undefined;

/** Ends an evaluation that needs an answer. */
class DecisionNeeded extends Error {
  constructor(readonly check: AccessCheck) {
    super('an access decision is needed');
  }
}

abstract class AuthorizationValue extends OpaqueValue {
  equals(other: Value): Value {
    return other === this || orNoSuchOverload(other);
  }
  override toString(): string {
    return this.type.name;
  }
}

/** The value of the variable `authorizer`. */
export class Authorizer extends AuthorizationValue {
  readonly type = authorizerType;
  constructor(
    readonly decide: DecideAccess,
    readonly serviceAccount?: { readonly namespace: string; readonly name: string },
  ) {
    super();
  }
}

class PathCheck extends AuthorizationValue {
  readonly type = pathCheckType;
  constructor(
    readonly authorizer: Authorizer,
    readonly path: string,
  ) {
    super();
  }
}
class GroupCheck extends AuthorizationValue {
  readonly type = groupCheckType;
  constructor(
    readonly authorizer: Authorizer,
    readonly group: string,
  ) {
    super();
  }
}

type ResourceParts = Pick<
  AccessCheck,
  'group' | 'resource' | 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector'
>;
const anyResource: ResourceParts = {
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

/** Also the value of the variable `authorizer.requestResource`. */
export class ResourceCheck extends AuthorizationValue {
  readonly type = resourceCheckType;
  readonly parts: ResourceParts;
  constructor(
    readonly authorizer: Authorizer,
    parts: Partial<ResourceParts>,
  ) {
    super();
    this.parts = { ...anyResource, ...parts };
  }
}

class Decision extends AuthorizationValue {
  readonly type = decisionType;
  constructor(readonly decision: AccessDecision) {
    super();
  }
}

function decide(authorizer: Authorizer, check: Omit<AccessCheck, 'serviceAccount'>): Value {
  const asked = authorizer.serviceAccount ? { ...check, serviceAccount: authorizer.serviceAccount } : check;
  const decision = authorizer.decide(asked);
  if (!decision) throw new DecisionNeeded(asked);
  return new Decision(decision);
}

type Reader<T> = (value: T, text: string) => Value;
function of<T extends Value>(Type: new (...args: never[]) => T, read: Reader<T>): Implementation {
  return (value, text) => (value instanceof Type ? read(value, text as string) : orNoSuchOverload(value));
}
const withPart = (name: string, id: string, part: keyof ResourceParts) =>
  declare(
    name,
    member(
      id,
      [resourceCheckType, string],
      resourceCheckType,
      of(ResourceCheck, ({ authorizer, parts }, text) => new ResourceCheck(authorizer, { ...parts, [part]: text })),
    ),
  );
const ofDecision = (name: string, type: CelType, read: (decision: AccessDecision) => Value) =>
  declare(
    name,
    member(
      `decision_${name}`,
      [decisionType],
      type,
      of(Decision, ({ decision }) => read(decision)),
    ),
  );

function serviceAccount(value: Value | undefined, namespace: Value | undefined, name: Value | undefined): Value {
  if (!(value instanceof Authorizer)) return orNoSuchOverload(value!);
  if (nameIsDnsSubdomain(name as string, false).length > 0) return new CelError('Invalid service account name');
  if (nameIsDnsLabel(namespace as string, false).length > 0) return new CelError('Invalid service account namespace');
  return new Authorizer(value.decide, { namespace: namespace as string, name: name as string });
}

export const authorizerLibrary: Library = {
  name: 'kubernetes.authz',
  functions: [
    declare(
      'path',
      member(
        'authorizer_path',
        [authorizerType, string],
        pathCheckType,
        of(Authorizer, (authorizer, path) =>
          path.trim() === '' ? new CelError('path must not be empty') : new PathCheck(authorizer, path),
        ),
      ),
    ),
    declare(
      'group',
      member(
        'authorizer_group',
        [authorizerType, string],
        groupCheckType,
        of(Authorizer, (authorizer, group) => new GroupCheck(authorizer, group)),
      ),
    ),
    declare(
      'serviceAccount',
      member('authorizer_serviceaccount', [authorizerType, string, string], authorizerType, serviceAccount),
    ),
    declare(
      'resource',
      member(
        'groupcheck_resource',
        [groupCheckType, string],
        resourceCheckType,
        of(GroupCheck, ({ authorizer, group }, resource) =>
          resource.trim() === ''
            ? new CelError('resource must not be empty')
            : new ResourceCheck(authorizer, { group, resource }),
        ),
      ),
    ),
    withPart('subresource', 'resourcecheck_subresource', 'subresource'),
    withPart('namespace', 'resourcecheck_namespace', 'namespace'),
    withPart('name', 'resourcecheck_name', 'name'),
    declare(
      'check',
      member(
        'pathcheck_check',
        [pathCheckType, string],
        decisionType,
        of(PathCheck, ({ authorizer, path }, verb) => decide(authorizer, { ...anyResource, path, verb })),
      ),
      member(
        'resourcecheck_check',
        [resourceCheckType, string],
        decisionType,
        of(ResourceCheck, ({ authorizer, parts }, verb) => decide(authorizer, { ...parts, verb })),
      ),
    ),
    ofDecision('errored', bool, ({ error }) => error !== undefined),
    ofDecision('error', string, ({ error }) => error ?? ''),
    ofDecision('allowed', bool, ({ isAllowed }) => isAllowed),
    ofDecision('reason', string, ({ reason }) => reason),
  ],
};

/** Selectors of the resources that a check is about. */
export const authorizerSelectorsLibrary: Library = {
  name: 'kubernetes.authzSelectors',
  functions: [
    withPart('fieldSelector', 'authorizer_fieldselector', 'fieldSelector'),
    withPart('labelSelector', 'authorizer_labelselector', 'labelSelector'),
  ],
};

/** The answers of an authorizer that was asked while an expression was evaluated. */
export class AccessDecisions {
  private readonly known: { readonly check: AccessCheck; readonly decision: AccessDecision }[] = [];

  readonly decide: DecideAccess = (check) => this.known.find((answer) => isSameCheck(answer.check, check))?.decision;
  add(check: AccessCheck, decision: AccessDecision): void {
    this.known.push({ check, decision });
  }
}

function isSameCheck(a: AccessCheck, b: AccessCheck): boolean {
  const names = [
    'verb',
    'path',
    'group',
    'resource',
    'subresource',
    'namespace',
    'name',
    'fieldSelector',
    'labelSelector',
  ] as const;
  const isSameAccount =
    a.serviceAccount?.namespace === b.serviceAccount?.namespace && a.serviceAccount?.name === b.serviceAccount?.name;
  return isSameAccount && names.every((name) => a[name] === b[name]);
}

/**
 * Evaluates a program whose `authorizer` is `new Authorizer(decisions.decide)`, and asks for each answer that it needs.
 * The decisions may be kept for all expressions of one request.
 */
export function evaluateWithAuthorizer(
  program: Program,
  bindings: Readonly<Record<string, unknown>>,
  options: AuthorizerOptions,
): Outcome | Promise<Outcome> {
  try {
    return program.evaluate(bindings, options);
  } catch (error) {
    if (!(error instanceof DecisionNeeded)) throw error;
    return evaluateAfter(error.check, program, bindings, options);
  }
}

type AuthorizerOptions = EvaluateOptions & {
  readonly decisions: AccessDecisions;
  readonly authorize: (check: AccessCheck) => Promise<AccessDecision>;
};

async function evaluateAfter(
  check: AccessCheck,
  program: Program,
  bindings: Readonly<Record<string, unknown>>,
  options: AuthorizerOptions,
): Promise<Outcome> {
  options.decisions.add(check, await options.authorize(check));
  return evaluateWithAuthorizer(program, bindings, options);
}
