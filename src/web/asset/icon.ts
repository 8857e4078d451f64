/** A holdfast: what seaweed grips the rock with. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="Holdfast">
<rect width="64" height="64" rx="14" fill="#0b6e63"/>
<g fill="none" stroke="#fbfaf7" stroke-width="4" stroke-linecap="round" stroke-linejoin="round">
<path d="M32 12v24"/><path d="M32 24c0-6 4-9 10-10"/><path d="M32 30c0-6-4-9-10-10"/>
<path d="M32 36c-2 8-8 10-16 12"/><path d="M32 36c-1 8-4 12-6 15"/><path d="M32 36c1 8 4 12 6 15"/><path d="M32 36c2 8 8 10 16 12"/>
</g></svg>
`;
