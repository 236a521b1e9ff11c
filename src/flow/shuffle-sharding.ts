import { createHash } from 'node:crypto';

/** Returns the hash of a flow: the first eight bytes of a SHA-256 as an unsigned little-endian integer. */
export function hashOfFlow(schemaName: string, distinguisher: string): bigint {
  return createHash('sha256').update(`${schemaName}\0${distinguisher}`).digest().readBigUInt64LE(0);
}

/**
 * Deals a hand of different queues to a flow, as kube-apiserver does: the hash is written in a number system with the
 * bases deckSize, deckSize - 1, …, and each digit names one of the cards that are left.
 *
 *   deckSize 4, handSize 2, hash 7: digits 3 and 1; queue 3 of {0, 1, 2, 3}, then queue 1 of {0, 1, 2}
 */
export function dealHand(hash: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  const ascending: number[] = [];
  let rest = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(deckSize - dealt);
    let card = Number(rest % left);
    rest /= left;
    // The digit counts only cards that are left: it skips each lower card that was dealt before.
    let at = 0;
    while (at < ascending.length && ascending[at]! <= card) {
      card++;
      at++;
    }
    ascending.splice(at, 0, card);
    hand.push(card);
  }
  return hand;
}
