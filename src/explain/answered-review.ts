import { explanationAnnotation } from '../auth/explain-access.js';
import { groupsOf } from '../auth/impersonation.js';
import { decodeJson } from '../codec/json.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';
import { ResourceFinder } from './find-resource.js';

export interface ReviewOptions {
  readonly asGroup: readonly string[];
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly subresource: string;
  readonly selector?: string;
  readonly fieldSelector?: string;
}

/** The answer to a review. */
export interface AnsweredReview {
  readonly request: string;
  readonly isAllowed: boolean;
  readonly status: Fields;
  /** Undefined if the server does not explain. */
  readonly explanation: Fields | undefined;
  readonly json: object;
}

interface Question {
  readonly user: string;
  readonly verb: string;
  readonly target: string;
  readonly options: ReviewOptions;
  readonly tell: (line: string) => void;
}

/** Asks the server for a decision about a request of a user, with its explanation. */
export async function answeredReview(client: KubeconfigClient, question: Question): Promise<AnsweredReview> {
  const { user, verb, target, options } = question;
  const finder = await ResourceFinder.of(client);
  const attributes = target.startsWith('/')
    ? { nonResourceAttributes: { path: target, verb } }
    : { resourceAttributes: await resourceAttributes(client, finder, question) };
  const review = { spec: { user, groups: groupsOf(user, options.asGroup), ...attributes } };
  const path = `${finder.reviewsPath}/subjectaccessreviews`;
  const answer = asFields(await client.create(path, review, { query: { explain: true } }));
  const annotations = asFields(asFields(answer['metadata'])['annotations']);
  const explained = asText(annotations[explanationAnnotation]);
  const status = asFields(answer['status']);
  const explanation = explained === '' ? undefined : decodedExplanation(explained);
  return {
    request: `${user} ${verb} ${shownTarget(attributes, target)}`,
    isAllowed: status['allowed'] === true,
    status,
    explanation,
    json: { status, explanation: explanation ?? null },
  };
}

function decodedExplanation(text: string): Fields {
  try {
    return asFields(decodeJson(text));
  } catch {
    throw new ClientError('Connection', `the annotation ${explanationAnnotation} of the answer is not JSON`);
  }
}

interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly labelSelector?: { readonly rawSelector: string };
  readonly fieldSelector?: { readonly rawSelector: string };
}

async function resourceAttributes(
  client: KubeconfigClient,
  finder: ResourceFinder,
  { verb, target, options, tell }: Question,
): Promise<ResourceAttributes> {
  const slash = target.indexOf('/');
  const type = slash < 0 ? target : target.slice(0, slash);
  const found = await finder.find(type);
  if (!found) tell(`the server has no resource "${type}"; the name is used as it is`);
  const [resource = '', ...group] = type.split('.');
  const { allNamespaces = false, namespace = client.namespace, subresource, selector, fieldSelector } = options;
  const isInNamespace = (found?.isNamespaced ?? true) && !allNamespaces;
  return {
    verb,
    group: found?.group ?? group.join('.'),
    resource: found?.resource ?? resource,
    subresource,
    namespace: isInNamespace ? namespace : '',
    name: slash < 0 ? '' : target.slice(slash + 1),
    ...(selector !== undefined && { labelSelector: { rawSelector: selector } }),
    ...(fieldSelector !== undefined && { fieldSelector: { rawSelector: fieldSelector } }),
  };
}

function shownTarget({ resourceAttributes: asked }: { resourceAttributes?: ResourceAttributes }, path: string): string {
  if (!asked) return path;
  const type = asked.group === '' ? asked.resource : `${asked.resource}.${asked.group}`;
  const name = asked.name === '' ? '' : ` "${asked.name}"`;
  const subresource = asked.subresource === '' ? '' : `/${asked.subresource}`;
  const scope = asked.namespace === '' ? 'at the cluster scope' : `in the namespace "${asked.namespace}"`;
  return `${type}${subresource}${name} ${scope}`;
}
