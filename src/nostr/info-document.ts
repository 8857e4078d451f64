import type { PublicKey } from "./event.ts";

/** NIP-11 `limitation`: true figures only, so a limit that is off is absent. */
export interface InfoLimitation {
  readonly max_message_length?: number | undefined;
  readonly max_subscriptions?: number | undefined;
  readonly max_subid_length?: number | undefined;
  readonly max_limit?: number | undefined;
  readonly default_limit?: number | undefined;
  readonly max_event_tags?: number | undefined;
  readonly max_content_length?: number | undefined;
  readonly min_pow_difficulty?: number | undefined;
  readonly auth_required?: boolean | undefined;
  readonly payment_required?: boolean | undefined;
  readonly restricted_writes?: boolean | undefined;
}

/** NIP-11, with what a GRASP server adds (grasp.md 2.4). */
export interface InfoDocument {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly icon?: string | undefined;
  readonly banner?: string | undefined;
  readonly pubkey?: PublicKey | undefined;
  readonly self?: PublicKey | undefined;
  readonly contact?: string | undefined;
  readonly software?: string | undefined;
  readonly version?: string | undefined;
  readonly terms_of_service?: string | undefined;
  readonly supported_nips: readonly number[];
  readonly supported_grasps: readonly string[];
  readonly repo_acceptance_criteria?: string | undefined;
  readonly curation?: string | undefined;
  readonly limitation: InfoLimitation;
  /** Names end in their unit, as `pack_bytes_max`. */
  readonly git_limitation?: Readonly<Record<string, number>> | undefined;
}

export interface InfoInput {
  readonly name: string;
  readonly description: string;
  readonly icon?: string | undefined;
  readonly banner?: string | undefined;
  readonly contact?: string | undefined;
  readonly termsOfService?: string | undefined;
  readonly software: string;
  readonly version: string;
  /** grasp.md 2.4: `pubkey` is the server key. It is `self` too, for that is what NIP-11 now calls a relay's own key. */
  readonly serverKey: PublicKey;
  readonly nips: readonly number[];
  /** `GRASP-01` … */
  readonly grasps: readonly string[];
  readonly acceptance: string;
  /** Only when curated. */
  readonly curation?: string | undefined;
  readonly limitation: InfoLimitation;
  readonly gitLimits?: Readonly<Record<string, number>> | undefined;
}

/** What is unset or empty is left out: JSON drops `undefined`, and an empty contact is none. */
export function infoDocument(input: InfoInput): InfoDocument {
  const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
  return {
    name: given(input.name),
    description: given(input.description),
    icon: given(input.icon),
    banner: given(input.banner),
    pubkey: input.serverKey,
    self: input.serverKey,
    contact: given(input.contact),
    software: given(input.software),
    version: given(input.version),
    terms_of_service: given(input.termsOfService),
    supported_nips: [...new Set(input.nips)].toSorted((a, b) => a - b),
    supported_grasps: [...new Set(input.grasps)].toSorted(),
    repo_acceptance_criteria: given(input.acceptance),
    curation: given(input.curation),
    limitation: input.limitation,
    git_limitation: input.gitLimits,
  };
}
