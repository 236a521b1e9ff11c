import type { TypeProvider } from '../cel/check/declarations.js';
import type { Environment } from '../cel/environment.js';
import { authorizerType, resourceCheckType } from '../cel/libraries/kubernetes/authorizer.js';
import { CelError } from '../cel/values/value.js';
import { listOf, mapOf, structType, types, type CelType } from '../cel/types.js';
import type { Steps } from '../std/steps.js';
import { namespaceType, requestType } from './admission-variables.js';
import { compileExpression, environmentOf, type CompiledExpression, type ExpressionMode } from './environment.js';
import { jsonPatchType, objectType, patchLibrary, patchTypes } from './patch-types.js';

interface FieldRules {
  /** The types that the result may have; any, if undefined. */
  readonly results?: readonly CelType[];
  readonly seesAuthorizer: boolean;
  /** False for matchConditions, which run before the variables of a policy. */
  readonly seesVariables: boolean;
  readonly seesPatchTypes: boolean;
}

const ordinary = { seesAuthorizer: true, seesVariables: true, seesPatchTypes: false };

/** The fields of webhooks and policies that hold expressions. */
const fields = {
  matchCondition: { ...ordinary, results: [types.bool], seesVariables: false },
  variable: ordinary,
  validation: { ...ordinary, results: [types.bool] },
  message: { ...ordinary, results: [types.string], seesAuthorizer: false },
  auditAnnotation: { ...ordinary, results: [types.string, types.null] },
  applyConfiguration: { ...ordinary, results: [objectType], seesPatchTypes: true },
  jsonPatch: { ...ordinary, results: [listOf(jsonPatchType)], seesPatchTypes: true },
  /** An expression of any of these fields, when only the types of its operands matter. */
  typeCheck: ordinary,
} satisfies Record<string, FieldRules>;

export type AdmissionField = keyof typeof fields;

/** The types of the objects of one kind, instead of dyn. */
export interface DeclaredObjects {
  readonly object: CelType;
  /** Undefined if the policy has no params, or if their type is not known. */
  readonly params: CelType | undefined;
  readonly provider: TypeProvider;
}

interface PolicyParts {
  /** True for a policy with a paramKind. */
  readonly hasParams: boolean;
  /** True for a policy that may have variables; in others, `variables` is undeclared. */
  readonly hasVariables: boolean;
  /** The types of `object`, `oldObject` and `params`, for checks of types. */
  readonly objects?: DeclaredObjects;
}

/**
 * Compiles the expressions of one webhook configuration or policy. Variables must be compiled in their order, before the
 * expressions that may use them.
 */
export class AdmissionCompiler {
  private readonly variables: PolicyVariables | undefined;
  private readonly environments = new Map<string, Environment>();

  constructor(private readonly parts: PolicyParts) {
    if (parts.hasVariables) this.variables = new PolicyVariables();
  }

  compile(field: Exclude<AdmissionField, 'variable'>, text: string, mode: ExpressionMode): Steps<CompiledExpression> {
    return this.compileField(fields[field], text, mode);
  }

  /** Compiles a variable, and declares it for the expressions after it. One that does not compile is dyn. */
  *compileVariable(name: string, text: string, mode: ExpressionMode): Steps<CompiledExpression> {
    const compiled = yield* this.compileField(fields.variable, text, mode);
    this.variables?.declare(name, compiled.resultType);
    return compiled;
  }

  private compileField(rules: FieldRules, text: string, mode: ExpressionMode): Steps<CompiledExpression> {
    return compileExpression(this.environment(rules, mode), text, (type) => wrongResult(type, rules.results));
  }

  private environment(rules: FieldRules, mode: ExpressionMode): Environment {
    const key = [mode, this.parts.hasParams, rules.seesAuthorizer, rules.seesPatchTypes].join(' ');
    const common = commonEnvironment(key, rules, mode, this.parts.hasParams);
    const variables = rules.seesVariables ? this.variables : undefined;
    const { objects } = this.parts;
    if (!variables && !objects) return common;
    let environment = this.environments.get(key);
    if (!environment) {
      const providers = [variables, objects?.provider, rules.seesPatchTypes ? patchTypes : undefined];
      environment = common.extend({
        variables: {
          ...(variables && { variables: variables.type }),
          ...(objects && { object: objects.object, oldObject: objects.object }),
          ...(objects?.params && { params: objects.params }),
        },
        provider: providers.filter((one) => one !== undefined).reduce(eitherOf),
      });
      this.environments.set(key, environment);
    }
    return environment;
  }
}

const commonEnvironments = new Map<string, Environment>();

/** Environments without the variables of a policy, which are the same for all policies. */
function commonEnvironment(
  key: string,
  { seesAuthorizer, seesPatchTypes }: FieldRules,
  mode: ExpressionMode,
  hasParams: boolean,
): Environment {
  let environment = commonEnvironments.get(key);
  if (!environment) {
    environment = environmentOf(mode, {
      variables: {
        object: types.dyn,
        oldObject: types.dyn,
        namespaceObject: namespaceType,
        request: requestType,
        ...(hasParams && { params: types.dyn }),
        ...(seesAuthorizer && { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType }),
      },
      ...(seesPatchTypes && { provider: patchTypes, libraries: [patchLibrary] }),
    });
    commonEnvironments.set(key, environment);
  }
  return environment;
}

/** `variables`: a struct with a field for each variable that is declared so far. */
class PolicyVariables implements TypeProvider {
  readonly type = structType('kubernetes.variables');
  private readonly fields = new Map<string, CelType>();

  declare(name: string, type: CelType | undefined): void {
    this.fields.set(name, type ? fieldType(type) : types.dyn);
  }
  findStruct(name: string): CelType | undefined {
    return name === this.type.name ? this.type : undefined;
  }
  findField(struct: string, field: string): CelType | undefined {
    return struct === this.type.name ? this.fields.get(field) : undefined;
  }
}

const plain: ReadonlySet<CelType> = new Set([
  types.any,
  types.bool,
  types.bytes,
  types.double,
  types.duration,
  types.int,
  types.null,
  types.string,
  types.timestamp,
  types.uint,
]);

/** Keeps the type of plain values, and of lists and maps; all others become dyn, as in the reference. */
function fieldType(type: CelType): CelType {
  if (type.kind === 'list') return listOf(fieldType(type.params[0]!));
  if (type.kind === 'map') return mapOf(fieldType(type.params[0]!), fieldType(type.params[1]!));
  return plain.has(type) ? type : types.dyn;
}

const eitherOf = (first: TypeProvider, second: TypeProvider): TypeProvider => ({
  findStruct: (name) => first.findStruct(name) ?? second.findStruct(name),
  findField: (struct, field) => (first.findStruct(struct) ? first : second).findField(struct, field),
  create: (struct, fields) =>
    (first.findStruct(struct) ? first : second).create?.(struct, fields) ?? new CelError(`unknown type '${struct}'`),
});

function wrongResult(type: CelType, allowed: readonly CelType[] | undefined): string | undefined {
  if (!allowed || allowed.some((one) => one.equals(type))) return undefined;
  const what = allowed.length === 1 ? String(allowed[0]) : `one of [${allowed.join(' ')}]`;
  return `must evaluate to ${what} but got ${String(type)}`;
}
