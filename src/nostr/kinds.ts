/** NIP-01. */
export const METADATA = 0;
/** NIP-09. */
export const DELETION = 5;
/** NIP-18: of a text note, and of anything else. */
export const REPOST = 6;
export const GENERIC_REPOST = 16;
/** NIP-62. */
export const VANISH = 62;
/** NIP-59. */
export const GIFT_WRAP = 1059;
/** NIP-34. */
export const PATCH = 1617;
export const PR = 1618;
export const PR_UPDATE = 1619;
export const ISSUE = 1621;
export const ANNOUNCEMENT = 30_617;
export const STATE = 30_618;
/** NIP-65. */
export const RELAY_LIST = 10_002;
/** NIP-34: the GRASP servers somebody uses. */
export const GRASP_LIST = 10_317;
/** NIP-42. */
export const CLIENT_AUTH = 22_242;
/** NIP-98. */
export const HTTP_AUTH = 27_235;
