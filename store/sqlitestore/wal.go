package sqlitestore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sizes in the log, see https://sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	walHead   = 32
	frameHead = 24
	walMagic  = 0x377f0682 // the lowest bit says that checksums are over big-endian words
)

// sound refuses a log in which something was changed. SQLite takes the first frame whose
// checksum does not fit for the end of the log, as it is after a crash in the middle of a write,
// and drops what is behind it without a word: a freeze, maybe. But a commit is written only when
// the one before it is on disk. So if there is another commit behind the one with that frame, no
// crash has cut the log. Only of the last commit nobody can say.
func sound(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	damage, err := scan(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if damage != "" {
		return damaged(path+"-wal", errors.New(damage))
	}
	return nil
}

// scan says what is damaged in a log that a crash may have left, or nothing.
func scan(log io.Reader) (damage string, err error) {
	var head [walHead]byte
	if _, err := io.ReadFull(log, head[:]); err != nil || head == [walHead]byte{} {
		return "", ended(err) // nothing was ever committed
	}
	c := chain{order: binary.LittleEndian}
	if head[3]&1 != 0 {
		c.order = binary.BigEndian
	}
	sum := c.add(sums{}, head[:24])
	if binary.BigEndian.Uint32(head[:])&^1 != walMagic || sum != stored(head[24:]) ||
		binary.BigEndian.Uint32(head[8:]) != pageSize {
		return "its start was changed", nil
	}
	copy(c.salts[:], head[16:])
	bad, closed := 0, false // the first frame that does not fit, and whether it ends a commit
	behind, commits := 0, 0 // frames and commits that fit behind it
	var either sums         // what the next frame may go on from, beside sum
	frame := make([]byte, frameHead+pageSize)
	for n := 1; ; n++ {
		if _, err := io.ReadFull(log, frame); ended(err) != nil {
			return "", err
		} else if err != nil {
			break
		}
		last := binary.BigEndian.Uint32(frame[4:]) != 0
		computed, fits := c.next(sum, frame)
		if !fits && bad != 0 && behind == 0 {
			_, fits = c.next(either, frame)
		}
		if !fits && bad != 0 {
			break
		}
		sum = stored(frame[16:])
		switch {
		case !fits:
			// Either the page was changed or its checksum.
			bad, closed, either = n, last, computed
		case bad != 0:
			behind++
			if last {
				commits++
			}
		}
	}
	if commits > 1 || closed && behind > 0 {
		return fmt.Sprintf("its frame %d was changed, and there are commits behind it", bad), nil
	}
	return "", nil
}

// ended forgives the end of a file.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// sums are a checksum of the log.
type sums [2]uint32

func stored(b []byte) sums { return sums{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])} }

// A chain is what the checksums of one log have in common: each goes on from the one before it.
type chain struct {
	order binary.ByteOrder
	salts [8]byte
}

func (c *chain) add(s sums, b []byte) sums {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += c.order.Uint32(b) + s[1]
		s[1] += c.order.Uint32(b[4:]) + s[0]
	}
	return s
}

// next returns the checksum of a frame that goes on from sum, and whether it is the frame's.
func (c *chain) next(sum sums, frame []byte) (computed sums, fits bool) {
	computed = c.add(c.add(sum, frame[:8]), frame[frameHead:])
	return computed, computed == stored(frame[16:]) && [8]byte(frame[8:16]) == c.salts
}
