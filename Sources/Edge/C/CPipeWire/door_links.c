/* Other programs that are linked to a private node. Any program of the user's outside a sandbox may make a link (pw-link does),
 * and PipeWire asks nobody: it sends the node's buffers to both ends, and a program that has mapped one may keep it.
 *
 *     its consumer's alone ──a link to another──▶ overheard: slates ──no such link, and all buffers gone──▶ its consumer's alone
 *
 * PipeWire sends pictures to a linked program after it has told us of the link. So what is written into a buffer
 * from then on is a slate (camarb_door_show_frame looks first), and what was in the buffers is painted over in the same turn.
 * The window that is left: until this turn, milliseconds after the link, the other program can read the pictures that the
 * buffers had when it came. Nothing but PipeWire itself could close it. */
#include "door_inside.h"

#include "CPipeWire.h"

/* A link is taken away again this often at one node: a session manager that makes it each time anew is not fought for ever. The remaining
 * links see slates. */
#define ENDED_MAX 8

static struct node *private_node(struct camarb_door *door, uint32_t number) {
    if (number == PW_ID_ANY) return NULL;
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        struct node *node = door->consumers[at] ? door->consumers[at]->node : NULL;
        if (node && camarb_node_number(node) == number) return node;
    }
    return NULL;
}

void camarb_link_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties) {
    /* PipeWire's own properties: it writes both over those of the link's maker. */
    uint32_t output = (uint32_t)camarb_number_of(properties, PW_KEY_LINK_OUTPUT_NODE, PW_ID_ANY);
    uint32_t input = (uint32_t)camarb_number_of(properties, PW_KEY_LINK_INPUT_NODE, PW_ID_ANY);
    struct node *node = private_node(door, output);
    if (!node || node->consumer == input) return;
    /* Counted also where it has no place: its end is not noticed then. */
    node->stranger_count++;
    if (door->stranger_count < STRANGERS_MAX)
        door->strangers[door->stranger_count++] = (struct stranger){.id = id, .node = node};
    camarb_node_overheard(node);
    if (node->strangers_ended == ENDED_MAX) return;
    node->strangers_ended++;
    pw_registry_destroy(door->registry, id);
}

void camarb_link_vanished(struct camarb_door *door, uint32_t id) {
    for (uint32_t at = 0; at < door->stranger_count; at++) {
        if (door->strangers[at].id != id) continue;
        struct node *node = door->strangers[at].node;
        door->strangers[at] = door->strangers[--door->stranger_count];
        node->stranger_count--;
        camarb_node_heard_no_more(node);
        return;
    }
}

void camarb_links_forget(struct node *node) {
    for (uint32_t at = 0; at < node->door->stranger_count;) {
        if (node->door->strangers[at].node == node)
            node->door->strangers[at] = node->door->strangers[--node->door->stranger_count];
        else
            at++;
    }
}
