/** How a sample looks: a picture, or a clip that plays, muted and in a loop, while it is pointed at or focused. */

export interface MediaUrls {
  /** The picture, or a clip's first frame; null: the clip shows its own. */
  readonly image_url: string | null;
  /** null: it is a picture. */
  readonly clip_url: string | null;
}

export function Media({ sample, alt }: { sample: MediaUrls; alt: string }) {
  if (sample.clip_url === null) return <img src={sample.image_url ?? ""} alt={alt} />;
  return (
    <>
      <video
        src={sample.clip_url}
        poster={sample.image_url ?? undefined}
        preload={sample.image_url === null ? "metadata" : "none"}
        aria-label={alt || undefined}
        muted
        loop
        playsInline
      />
      <span class="clip-mark" aria-hidden="true">
        ▶
      </span>
    </>
  );
}

/** What a tile does with the clip in it; a tile that holds a picture does nothing. */
export const playsWhilePointedAt = {
  onPointerEnter: (event: Event) => play(event),
  onFocus: (event: Event) => play(event),
  onPointerLeave: (event: Event) => rest(event),
  onBlur: (event: Event) => rest(event),
};

function clipOf(event: Event): HTMLVideoElement | null {
  return (event.currentTarget as HTMLElement).querySelector("video");
}

function play(event: Event): void {
  // Refused where the clip is gone or the pointer left before it was loaded: the poster stays.
  clipOf(event)
    ?.play()
    .catch(() => undefined);
}

function rest(event: Event): void {
  const clip = clipOf(event);
  clip?.pause();
  if (clip) clip.currentTime = 0;
}

/** A clip at full size, playing at once; its controls stop it. */
export function Player({ sample, alt }: { sample: MediaUrls; alt: string }) {
  if (sample.clip_url === null) return <img src={sample.image_url ?? ""} alt={alt} />;
  return (
    <video
      src={sample.clip_url}
      poster={sample.image_url ?? undefined}
      aria-label={alt}
      autoplay
      muted
      loop
      controls
      playsInline
    />
  );
}
