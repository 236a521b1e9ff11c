import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../catalog/types/admissionregistration.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError } from '../../machinery/field-error.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { privilegedGroup } from '../../machinery/user-info.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';

/**
 * Refuses policies and bindings whose params the user may not read: messages of the policy could show them. A policy
 * with a paramKind requires `get` of all objects of the kind, a binding `get` of its paramRef, or `list` with a selector.
 * Like kube-apiserver's storage for these kinds, it cannot be switched off.
 */
export const policyParamPermissions = defineAdmissionPlugin({
  name: 'PolicyParamPermissions',
  runs: 'always',
  make(dependencies) {
    const group = dependencies.naming.group('admissionregistration');
    return {
      resources: [...checks.keys()].map((resource) => ({ group, resource })),
      async validate(attributes) {
        const { resource, subresource, operation, request } = attributes;
        if (resource.group !== group || subresource !== '') return;
        if (operation !== 'CREATE' && operation !== 'UPDATE') return;
        const check = checks.get(resource.resource);
        if (!check || request.user.groups.includes(privilegedGroup)) return;
        await check(dependencies, attributes);
      },
    };
  },
});

type Check = (dependencies: PluginDependencies, attributes: AdmissionAttributes) => Promise<void>;

const bindingOf =
  (policies: string): Check =>
  (dependencies, attributes) =>
    checkBinding(dependencies, attributes, policies);

const checks: ReadonlyMap<string, Check> = new Map([
  ['validatingadmissionpolicies', checkPolicy],
  ['mutatingadmissionpolicies', checkPolicy],
  ['validatingadmissionpolicybindings', bindingOf('validatingadmissionpolicies')],
  ['mutatingadmissionpolicybindings', bindingOf('mutatingadmissionpolicies')],
]);

async function checkPolicy(dependencies: PluginDependencies, attributes: AdmissionAttributes): Promise<void> {
  const policy: ValidatingAdmissionPolicy | undefined = attributes.object;
  const old: ValidatingAdmissionPolicy | undefined = attributes.old;
  const paramKind = policy?.spec?.paramKind;
  if (!paramKind || semanticEqual(paramKind, old?.spec?.paramKind)) return;
  const params = paramResource(dependencies, paramKind);
  if (await dependencies.mayDo({ ...params, user: attributes.request.user, verb: 'get', namespace: '', name: '' }))
    return;
  throw refusal(
    attributes,
    'spec.paramKind',
    `user "${attributes.request.user.name}" must have "get" permission on all objects of the referenced paramKind (kind=${paramKind.kind}, apiVersion=${paramKind.apiVersion})`,
  );
}

async function checkBinding(
  dependencies: PluginDependencies,
  attributes: AdmissionAttributes,
  policies: string,
): Promise<void> {
  const { request, resource } = attributes;
  const binding: ValidatingAdmissionPolicyBinding | undefined = attributes.object;
  const old: ValidatingAdmissionPolicyBinding | undefined = attributes.old;
  const { paramRef, policyName = '' } = binding?.spec ?? {};
  if (!paramRef) return;
  if (policyName === old?.spec?.policyName && semanticEqual(paramRef, old.spec.paramRef)) return;
  const policyResource = { group: resource.group, resource: policies };
  const policy: ValidatingAdmissionPolicy | undefined = await find(
    dependencies.objects,
    policyResource,
    '',
    policyName,
    request.signal,
  );
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const params = paramResource(dependencies, policy?.spec?.paramKind);
  if (await dependencies.mayDo({ ...params, user: request.user, verb, namespace, name })) return;
  throw refusal(
    attributes,
    'spec.paramRef',
    `user "${request.user.name}" does not have "${verb}" permission on the object referenced by paramRef`,
  );
}

/** Returns the resource of the params; `*` for what is not known, which requires permission for everything. */
function paramResource({ resourcesOfKind }: PluginDependencies, paramKind: ParamKind | undefined) {
  const { apiVersion = '', kind = '' } = paramKind ?? {};
  if (!paramKind) return { group: '*', resource: '*' };
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, resource: resourcesOfKind({ group, version, kind })[0]?.resource ?? '*' };
}

function refusal({ resource, kind, name }: AdmissionAttributes, field: string, problem: string): ApiError {
  return ApiError.invalid({ group: resource.group, kind }, name, [fieldError.forbidden(field, problem)]);
}
