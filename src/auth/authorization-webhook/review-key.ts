import { createHash } from 'node:crypto';
import type { UserInfo } from '../../machinery/user-info.js';
import type { AuthorizationAttributes } from '../authorizer.js';

/** Selectors of a request, which are parsed whenever they are read from its attributes. */
export type Selectors = Pick<AuthorizationAttributes, 'fieldSelector' | 'labelSelector'>;

export interface ReviewKey {
  /** Equal only for equal SubjectAccessReviews. */
  readonly text: string;
  /** False for a review that clients have made large: kept, a few would displace many ordinary ones. */
  readonly isCacheable: boolean;
}

/** As kube-apiserver: characters of all attributes that a client chooses, for a decision that is cached. */
const chosenCharactersMax = 10_000;
/** Users with longer texts are replaced by a digest: keys stay short for users with many groups. */
const userCharactersMax = 300;

/** Users live as long as their credentials are cached, so most requests find the text of theirs. */
const texts = new WeakMap<UserInfo, string>();

export function reviewKey(attributes: AuthorizationAttributes, selectors: Selectors): ReviewKey {
  const { user, verb } = attributes;
  let subject = texts.get(user);
  if (subject === undefined) texts.set(user, (subject = userText(user)));
  if (!attributes.isResourceRequest) {
    const { path } = attributes;
    const isCacheable = verb.length + path.length < chosenCharactersMax;
    return { text: `${subject}p${verb.length}:${verb}${path}`, isCacheable };
  }
  const { namespace: ns, group, version, resource, subresource: sub, name } = attributes;
  const { fieldSelector, labelSelector } = selectors;
  // The length before each text makes the key unambiguous.
  let text =
    `r${verb.length}:${verb}${ns.length}:${ns}${group.length}:${group}${version.length}:${version}` +
    `${resource.length}:${resource}${sub.length}:${sub}${name.length}:${name}`;
  if (fieldSelector && !fieldSelector.isEmpty) text += selectorText('f', fieldSelector.toString());
  if (labelSelector && !labelSelector.isEmpty) text += selectorText('l', labelSelector.toString());
  return { text: subject + text, isCacheable: text.length < chosenCharactersMax };
}

const selectorText = (kind: string, text: string) => `${kind}${text.length}:${text}`;

function userText({ name, uid, groups, extra }: UserInfo): string {
  const parts = [name, uid, String(groups.length), ...groups];
  for (const key of Object.keys(extra).sort()) parts.push(key, String(extra[key]!.length), ...extra[key]!);
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  if (text.length <= userCharactersMax) return text;
  return `#${createHash('sha256').update(text).digest('base64')}`;
}
